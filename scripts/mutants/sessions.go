package main

// sessionBugs are bugs of what a connection is given, and of poolers.
var sessionBugs = []mutant{
	{"a session is not known again",
		in(sessions, "Session.Name").Replace(`$s.mark[:10]`, `""`),
		core, "TestPoolerNeverMixesTables"},
	{"statements are named by their place",
		in(sessions, "NewStatement").Replace(`sum[:8]`, `sum[:0]`).
			In(sessions, "Session.Name").Replace(`$s.mark[:10]`, `""`),
		core, "TestPoolerNeverMixesTables"},
	{"nobody looks for a pooler",
		in(sessions, "Probe").Replace(`for range tries { _ }`, `_ = tries`),
		core, "TestPoolerInTransactionModeIsRefusedAtTheStart"},
	{"settings go into the start-up packet",
		in(sessions, "Configure").Before(`$cfg.ValidateConnect = _`, `$cfg.RuntimeParams["lock_timeout"] = "1s"`),
		core, "TestPoolerInSessionModeWorks"},
	{"what a pooler left out of the connection string is not set",
		in(sessions, "renew").Replace(`parameters(asked)`, `parameters(nil)`),
		core, "TestPoolerInSessionModeWorks"},
	{"what a client before left in a session stays",
		in(sessions, "renew").Text(`RESET ALL; DISCARD TEMP;`, ``),
		core, "TestPoolerWithoutResetLeavesNothing"},
}
