package main

// outageBugs are bugs of what is done when something takes too long or goes away: a handler,
// a statement, a client, a server, a clock.
var outageBugs = []mutant{
	{"a handler that ignores its context keeps its connection", []edit{{
		"runtime/call.go", "	_ = conn.PgConn().Conn().Close() //", "	//",
	}}, core, "TestHandlerThatIgnoresItsContextInAStatement"},
	{"a handler that ignores its context keeps its transaction", []edit{{
		"runtime/call.go", "	tx.life.cut()\n", "",
	}}, core, "TestHandlerThatIgnoresItsContextWritesNothing"},
	{"a record that takes too long is given up without its retries", []edit{{
		"runtime/judge.go", "o.policyOf(&records[0]), err); again {", "o.policyOf(&records[0]), err); again && false {",
	}}, core, "TestTimeOutsAreRetriedThenGivenUp"},
	{"a record that takes too long is never given up", []edit{{
		"runtime/judge.go", "o.policyOf(&records[0]), err); again {", "o.policyOf(&records[0]), err); again || true {",
	}}, core, "TestTimeOutsAreRetriedThenGivenUp"},
	{"a handler whose statement takes too long is never given up", []edit{{
		"runtime/judge.go", "		case classData, classTimeout:\n", "		case classData:\n",
	}}, core, "TestTimeOutOfAStatement"},
	{"a read-only server is left by one connection only", []edit{{
		"runtime/transact.go", "			o.c.reconnect()\n", "			_ = o.c.reconnect\n",
	}}, core, "TestReadOnlyServerIsLeftByAllConnections"},
	{"the age of a segment's keys follows its last row, also when the clock goes back", []edit{{
		"runtime/internal/keyset/set.go", "	if r.Written.After(g.newest) {\n		g.newest = r.Written\n	}\n", "	g.newest = r.Written\n",
	}}, keysets, "TestKeysStayAlthoughTheClockWentBack"},
	{"a transaction that began just now is ended", []edit{{
		"runtime/statements.go", "\n  AND xact_start < clock_timestamp() - interval '5 seconds'", "",
	}}, core, "TestFenceEndsNoYoungTransaction"},
}
