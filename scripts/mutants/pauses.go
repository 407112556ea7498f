package main

// pauseBugs are bugs of what operators do on purpose: pauses, and positions that are set by time.
var pauseBugs = []mutant{
	{"pause: a take-over does not see it",
		in(room, "takeOver.checkTail").Never(`_.Kind == ledger.Pause`),
		engines, "TestPauseIsNoHalt"},
	{"pause: hooks hear of a halt",
		in(room, "Partition.tellState").Replace(`named(to, why)`, `to.String()`),
		engines, "TestPauseIsNoHalt"},
	{"pause: a set position ends it",
		in(operators, "change.try").Replace(`tail.Kind == ledger.Pause && !$c.ends`, `false`),
		operators, "TestPauseStaysUntilResume"},
	{"pause: the resume forgets the dead letters in a row",
		in(operators, "Resume").Replace(`t.Letters`, `ledger.InRow{}`),
		operators, "TestPauseStaysUntilResume"},
	{"set --at: a partition that is before the time skips its records",
		in(operators, "Set").Replace(`to.To == t.Next || to.To > t.Next && to.ApplyAgain`, `to.To == t.Next`).
			Never(`to.To > t.Next && to.ApplyAgain`),
		commands, "TestSetAtATime"},
	{"set --at: a time before 1970 is one of Kafka's marks",
		in(commands, "moment.ask").Replace(`max(0, ms)`, `ms`),
		commands, "TestSetAtATime"},
}
