package main

// sessionBugs are bugs of what a connection is given, and of poolers.
var sessionBugs = []mutant{
	{"a session is not known again", []edit{{
		"runtime/internal/session/statement.go", `"_" + s.mark[:10] + "_"`, `"_"`,
	}, {"runtime/internal/session/statement.go", "[]byte(s.mark))", "nil)"}}, coreTests + "NeverMixes"},
	{"statements are named by their place", []edit{{
		"runtime/internal/session/statement.go", `hash: hex.EncodeToString(sum[:8])}`, `hash: hex.EncodeToString(sum[:0])}`,
	}, {"runtime/internal/session/statement.go", `"_" + s.mark[:10] + "_"`, `"_"`},
		{"runtime/internal/session/statement.go", "[]byte(s.mark))", "nil)"}}, coreTests + "NeverMixes"},
	{"an append asks for no mark", []edit{{
		"runtime/internal/ledger/statements.go", "WHERE idem_session($14::text)\n", "WHERE $14::text IS NOT NULL\n",
	}}, coreTests + "AnotherClientHad"},
	{"nobody looks for a pooler", []edit{{
		"runtime/internal/session/pooler.go", "	for range tries {\n", "	for range tries - tries {\n",
	}}, coreTests + "RefusedAtTheStart"},
	{"settings go into the start-up packet", []edit{{
		"runtime/internal/session/session.go", "	cfg.ValidateConnect = ", "	cfg.RuntimeParams[\"lock_timeout\"] = \"1s\"\n	cfg.ValidateConnect = ",
	}}, coreTests + "InSessionMode"},
	{"what a pooler left out of the connection string is not set", []edit{{
		"runtime/internal/session/session.go", "parameters(asked)", "parameters(nil)",
	}}, coreTests + "InSessionMode"},
	{"what a client before left in a session stays", []edit{{
		"runtime/internal/session/session.go", "RESET ALL; DISCARD TEMP; ", "",
	}}, coreTests + "WithoutReset"},
}
