package main

// sessionBugs are bugs of what a connection is given, and of poolers.
var sessionBugs = []mutant{
	{"a session is not known again", []edit{{
		"runtime/internal/session/statement.go", `"_" + s.mark[:10] + "_"`, `"_"`,
	}, {"runtime/internal/session/statement.go", "[]byte(s.mark))", "nil)"}}, core, "TestPoolerNeverMixesTables"},
	{"statements are named by their place", []edit{{
		"runtime/internal/session/statement.go", `hash: hex.EncodeToString(sum[:8])}`, `hash: hex.EncodeToString(sum[:0])}`,
	}, {"runtime/internal/session/statement.go", `"_" + s.mark[:10] + "_"`, `"_"`},
		{"runtime/internal/session/statement.go", "[]byte(s.mark))", "nil)"}}, core, "TestPoolerNeverMixesTables"},
	{"an append asks for no mark", []edit{{
		"runtime/internal/ledger/statements.go", "WHERE idem_session($15::text)\n", "WHERE $14::text IS NOT NULL\n",
	}}, core, "TestSessionThatAnotherClientHadIsNotWrittenWith"},
	{"nobody looks for a pooler", []edit{{
		"runtime/internal/session/pooler.go", "	for range tries {\n", "	for range tries - tries {\n",
	}}, core, "TestPoolerInTransactionModeIsRefusedAtTheStart"},
	{"settings go into the start-up packet", []edit{{
		"runtime/internal/session/session.go", "	cfg.ValidateConnect = ", "	cfg.RuntimeParams[\"lock_timeout\"] = \"1s\"\n	cfg.ValidateConnect = ",
	}}, core, "TestPoolerInSessionModeWorks"},
	{"what a pooler left out of the connection string is not set", []edit{{
		"runtime/internal/session/session.go", "parameters(asked)", "parameters(nil)",
	}}, core, "TestPoolerInSessionModeWorks"},
	{"what a client before left in a session stays", []edit{{
		"runtime/internal/session/session.go", "RESET ALL; DISCARD TEMP; ", "",
	}}, core, "TestPoolerWithoutResetLeavesNothing"},
}
