package main

// eraseBugs are bugs of events that erase what is kept of their record key.
var eraseBugs = []mutant{
	{"letters behind the event that erases are erased",
		in(core, "eraseLettersSQL").Text(`WHERE d.stream <> $3 OR d.offs <= e.offs OR $8 AND d.seq < $7::bigint`, `WHERE $7::bigint > 0`),
		core, "TestEventErasesTheLettersBeforeIt"},
	{"letters of other record keys are erased",
		in(core, "eraseLettersSQL").Text(`ON d.order_key = e.order_key AND d.erased_by IS NULL`, `ON d.erased_by IS NULL`),
		core, "TestEventErasesTheLettersBeforeIt"},
	{"letters of topics with another record key are erased",
		in(core, "eraseLettersSQL").Text(`AND s.topic ~ $2`, `AND $2::text <> ''`),
		core, "TestErasingReachesOtherPartitions"},
	{"what is kept is erased in a transaction of its own",
		in(core, "transaction.sendAttempt").Before(`c := t.o.chain`, `if e := erase(t.o, d, t.settles); len(e) > 0 {
				early := pipeline.New(ctx, t.conn.Conn())
				early.Add(e...)
				_, _ = early.Run()
			}`),
		core, "TestErasingSurvivesACrashAtEachStep"},
	{"an event that erases waits behind the dead letter",
		in(core, "Decider.erases").Never(`len(d.topic.Erases) > 0`),
		core, "TestErasingEventEndsTheWait"},
	{"what waited for an erased letter is still waited for",
		in(core, "Decision.erase").Never(`!q.Empty()`),
		core, "TestErasingEventEndsTheWait"},
	{"a letter that was read before it was erased is replayed",
		in(core, "settleSQL").Text(` AND ($5 = 'x' OR erased_by IS NULL)`, ``),
		core, "TestReplayErases"},
	{"results of effects are kept",
		in(leases, "eraseLeasesSQL").Text(`result = NULL,`, ``),
		core, "TestErasingTakesResultsOfEffects"},
	{"results of effects behind the event are erased",
		in(leases, "eraseLeasesSQL").Text(`THEN l.offs <= e.offs`, `THEN true`),
		core, "TestErasingTakesTheLeaseOfALateHolder"},
	{"an effect whose result was erased is called again",
		in(leases, "eraseLeasesSQL").Text(`THEN 'e' ELSE (lease).state END`, `THEN 'f' ELSE (lease).state END`),
		core, "TestErasingTakesResultsOfEffects"},
	{"a late holder records its result behind the event that erases",
		in(leases, "eraseLeasesSQL").Text(`WHEN (lease).state = 'p' THEN 'i' WHEN`, `WHEN`),
		core, "TestErasingTakesTheLeaseOfALateHolder"},
}
