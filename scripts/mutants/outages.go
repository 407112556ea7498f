package main

// outageBugs are bugs of what is done when something takes too long or goes away: a handler,
// a statement, a client, a server, a clock.
var outageBugs = []mutant{
	{"a handler that ignores its context keeps its connection", []edit{{
		"runtime/call.go", "			_ = x.conn.PgConn().Conn().Close() //", "			//",
	}}, core, "TestHandlerThatIgnoresItsContextWritesNothing"},
	{"a handler that ignores its context keeps its transaction", []edit{{
		"runtime/call.go", "			c.life.cut()\n", "",
	}}, core, "TestHandlerThatIgnoresItsContextWritesNothing"},
	{"a record that takes too long is given up without its retries", []edit{{
		"runtime/judge.go", "o.policyOf(&records[0]), err); again {", "o.policyOf(&records[0]), err); again && false {",
	}}, core, "TestTimeOutsAreRetriedThenGivenUp"},
	{"a record that takes too long is never given up", []edit{{
		"runtime/judge.go", "o.policyOf(&records[0]), err); again {", "o.policyOf(&records[0]), err); again || true {",
	}}, core, "TestTimeOutsAreRetriedThenGivenUp"},
	{"a handler whose statement takes too long is never given up", []edit{{
		"runtime/judge.go", "		case pgerror.Data, pgerror.Timeout:\n", "		case pgerror.Data:\n",
	}}, core, "TestTimeOutsAreRetriedThenGivenUp"},
	{"a partition that has no connection says nothing", []edit{{
		"runtime/judge.go", "		o.w.tell(o, wait)\n		return wait", "		return wait",
	}, {
		"runtime/outage.go", "o.w.tell(o, &waitError{err: err})", "_ = err",
	}}, core, "TestOutageIsToldAtOnceAndOnce"},
	{"an outage is waited out although the database is back", []edit{{
		"runtime/outage.go", "c.prober.Wait(both, o.tellWait) == nil", "sleep(both, 30*time.Second)",
	}}, core, "TestOutageIsToldAtOnceAndOnce"},
	{"the wait for a connection counts for the record", []edit{{
		"runtime/transact.go", "	conn, err := o.connect(ctx)\n", "	ctx, cancel := o.deadline(ctx)\n	defer cancel()\n	conn, err := o.connect(ctx)\n",
	}, {
		"runtime/transact.go", "	ctx, cancel := o.deadline(ctx) // the wait for a connection is no record's fault\n	defer cancel()\n", "",
	}}, core, "TestWaitForAConnectionCountsForNoRecord"},
	{"a partition that waits for a connection of its process says nothing", []edit{{
		"runtime/outage.go", "			tell(&outage.Unreachable{Err: err})\n", "			_ = tell\n",
	}}, core, "TestWaitForAConnectionIsTold"},
	{"a statement waits for a lock as long as it may take", []edit{{
		"runtime/session.go", "Lock: c.lockTimeout(),", "Lock: l.LockTimeout,",
	}}, core, "TestHeldLockIsNoDeadLetterOfAStatement"},
	{"an error of a connect is judged as one of the record", []edit{{
		"runtime/judge.go", "AsType[*connectError](err); unconnected {", "AsType[*connectError](err); unconnected && pgerror.Of(err) != pgerror.Data {",
	}}, core, "TestErrorOfAConnectIsNoRecordsFault"},
	{"a password that was refused halts", []edit{{
		"runtime/internal/pgerror/class.go", "	if loginRefused(err) {\n		return Unsent\n	}\n", "	_ = loginRefused\n",
	}}, core, "TestChangedPasswordIsWaitedOut"},
	{"the service is healthy while its database was never reached", []edit{{
		"runtime/session.go", "		c.run.Set(c.log, fmt.Errorf(\"the database was not reached since the start: %w\", &outage.Unreachable{Err: err}))\n", "		c.run.Set(nil, nil)\n		_ = outage.Unreachable{Err: err}\n",
	}}, core, "TestDatabaseThatWasNeverReachedIsTold"},
	{"who waits for the database tries for itself", []edit{{
		"runtime/internal/outage/prober.go", "	if p.round == nil {\n", "	if true {\n",
	}}, outages, "TestAllWhoWaitShareOneProbe"},
	{"the end of a log is not asked of a partition that stands", []edit{{
		"runtime/confluent/ends.go", "	if len(list) == 0 {\n", "	if true {\n",
	}}, source, "TestSinkHearsWhereLogsEnd"},
	{"brokers that are gone are not told", []edit{{
		"runtime/confluent/group.go", "		if r.group.broker == nil {\n", "		if false {\n",
	}, {
		"runtime/confluent/group.go", "		return r.silentBrokers(err.Error())\n", "		return nil\n",
	}}, source, "TestBrokerThatIsGoneIsTold"},
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
