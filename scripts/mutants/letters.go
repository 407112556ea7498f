package main

// letterBugs are bugs of what becomes of dead letters.
var letterBugs = []mutant{
	{"30 a replay does not check that the letter is still open",
		in(core, "settleSQL").Text(`AND state = $4::"char" AND (`, `AND (`),
		core, "TestReplayOfALetterThatWasClosedHasNoEffect"},
	{"a replay that is in doubt is not sent again",
		in(core, "errands.do").Never(`state == protocol.Doubt`),
		core, "TestReplaySurvivesACrashAtEachStep"},
	{"failures of a replay count as those of records",
		in(core, "errands.do").Drop(`$o.retry = mine.retry`),
		core, "TestReplayIsTriedAgainWhileRecordsGoOn"},
	{"a replay moves the position",
		in(core, "Owner.attempt").Before(`$o.chain.Try(_)`, `a.Row.Next = d.Next()`),
		core, "TestReplayTakesEffectOnce"},
	{"a replay that is refused halts the partition",
		in(core, "errands.conclude").Never(`h != nil && _`),
		core, "TestReplayThatFailsStaysDead"},
	{"31 which keys wait is not loaded at the take-over",
		in(core, "takeOver.load").Replace(`$o.parked.Load(_, _, _)`, `error(nil)`),
		core, "TestNextOwnerKnowsWhatWaits"},
	{"32 a letter is resolved without a row of the chain",
		in(core, "transaction.sendAttempt").Replace(`$head := []pipeline.Statement{_}`, `head := []pipeline.Statement{c.Append(a.Row)}
			if t.settles != nil {
				head = nil
			}`),
		core, "TestParkedKeySurvivesACrashAtEachStep"},
	{"a record of the batch overtakes the dead letter of its key",
		in(core, "Decision.queue").Never(`m.Key == key`),
		core, "TestRecordsWaitBehindADeadLetterOfTheirKey"},
	{"a waiting record that is refused lets the rest go on",
		in(core, "Settling.Moves").Drop(`count(s.State, 1)`),
		core, "TestWaitingRecordThatIsRefusedHoldsTheRest"},
	{"the last record that waits goes on first (generated tests)",
		in("./runtime/internal/engine/deadletter", "nextSQL").Text(`parks ORDER BY offs, seq`, `parks ORDER BY offs DESC, seq`),
		"./testdata/golden/accepted/parked_records", "TestParcelsV1"},
	{"partitions are confirmed while records wait",
		in(streams, "nothingWaits").Replace(`open == 0`, `open >= 0`),
		core, "TestPartitionsAreNotConfirmedWhileRecordsWait"},
	{"the second operator is not told who asked first",
		in(streams, "askSQL").Text(`AND state = 'd' AND asked IS NULL`, `AND state = 'd'`),
		core, "TestSecondOperatorIsTold"},
}
