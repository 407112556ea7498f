package main

// letterBugs are bugs of what becomes of dead letters.
var letterBugs = []mutant{
	{"30 a replay does not check that the letter is still open",
		in(core, "settleSQL").Text(`AND state = $4::"char" RETURNING offs`, `RETURNING offs`),
		core, "TestReplayOfALetterThatWasClosedHasNoEffect"},
	{"a replay that is in doubt is not sent again",
		in(core, "errands.do").Never(`state == protocol.Doubt`),
		core, "TestReplaySurvivesACrashAtEachStep"},
	{"failures of a replay count as those of records",
		in(core, "errands.do").Drop(`$o.retry = mine.retry`),
		core, "TestReplayIsTriedAgainWhileRecordsGoOn"},
	{"a replay moves the position",
		in(core, "Owner.attempt").Replace(`$a.Row.Next`, `a.Row.Next`),
		core, "TestReplayTakesEffectOnce"},
	{"a replay that is refused halts the partition",
		in(core, "errands.conclude").Never(`h != nil && _`),
		core, "TestReplayThatFailsStaysDead"},
	{"the second operator is not told who asked first",
		in(streams, "askSQL").Text(`AND state = 'd' AND asked IS NULL`, `AND state = 'd'`),
		core, "TestSecondOperatorIsTold"},
}
