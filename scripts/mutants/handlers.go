package main

// handlerBugs are bugs of what a handler's statements may leave behind.
var handlerBugs = []mutant{
	{"every statement of a handler counts as plain", []edit{{
		"runtime/tx.go", "	if !t.texts.None(sql) {\n", "	if !t.texts.None(sql) && sql == \"\" {\n",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"a call of any function counts as plain", []edit{{
		"runtime/internal/footprint/footprint.go", "r.symbol(\"(\") && !r.opens(),", "r.symbol(\"(\") && !r.opens() && r.depth > 9,",
	}}, footprints, "TestWhatMayLeaveSomethingHasAFootprint"},
	{"a second statement in a text is not seen", []edit{{
		"runtime/internal/footprint/footprint.go", "return r.advance().kind == nothing && !r.unsure", "return !r.unsure",
	}}, footprints, "TestWhatMayLeaveSomethingHasAFootprint"},
	{"statements of a batch are not looked at", []edit{{
		"runtime/tx.go", "rewritten = h.trace.see(q.SQL, q.Arguments) || rewritten", "_ = q",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"a rewriter counts as plain", []edit{{
		"runtime/tx.go", "		case pgx.QueryRewriter:\n			t.left.Store(true)\n", "		case pgx.QueryRewriter:\n",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"a rewriter does not find the call", []edit{{
		"runtime/tx.go", "if h.own != nil && !rewritten &&", "if h.own != nil &&",
	}}, core, "TestRewriterFindsTheCallInAStatementsContext"},
	{"the end of a call's context counts as the end of its time", []edit{{
		"runtime/call.go", "x.conn.IsClosed() && !c.ctx.Over()", "x.conn.IsClosed() && c.ctx.Err() == nil",
	}}, core, "TestOutageInAHandlerIsNotTheEventsFault"},
	{"what runs on a handler's connection counts as plain", []edit{{
		"runtime/tx.go", "	h.trace.left.Store(true)\n	return h.tx.Conn()\n", "	return h.tx.Conn()\n",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"rows of a handler give the connection away", []edit{{
		"runtime/tx.go", "	return handlerRows{rows, h}, err\n", "	return rows, err\n",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"a call that committed and failed is taken for rolled back", []edit{{
		"runtime/send.go", "); ok && h.left {", "); ok && h.left && h.call == nil {",
	}}, core, "TestFailedCallThatEndedTheTransactionHalts"},
	{"a call that committed and failed is taken for a lost reply", []edit{{
		"runtime/resolve.go", "by != nil {", "by != nil && by.Message == nil {",
	}}, core, "TestFailedCallThatEndedTheTransactionHalts"},
	{"a column called values opens any call", []edit{{
		"runtime/internal/footprint/footprint.go", "first.is(\"values\") && ahead.next() == token{symbol, \"(\"}", "first.is(\"values\")",
	}}, footprints, "TestWhatMayLeaveSomethingHasAFootprint"},
	{"nothing is taken back behind a call", []edit{{
		"runtime/explicit.go", "		x.ask(clean(x.session)...)\n", "		x.ask()\n",
	}}, core, "TestWhatAHandlerSetsIsTakenBackHoweverItIsSent"},
	{"nobody asks for the transaction behind a call", []edit{{
		"runtime/explicit.go", "append(append(clean, x.o.ownStatement(x.a.row.Token)), x.pending...)", "append(clean, x.pending...)",
	}, {"runtime/explicit.go", "len(clean)+1, len(clean) == 0", "len(clean), len(clean) == 0"}}, core, "TestEndOfATransactionIsFoundHoweverItIsSent"},
	{"a plain call is cleaned up behind all the same", []edit{{
		"runtime/explicit.go", "x.last = call; left {", "x.last = call; left || !left {",
	}}, core, "TestRoundTripsOfABatch"},
	{"a handler's time is not looked at", []edit{{
		"runtime/internal/watchdog/watchdog.go", "	w.statements.cancel(context.DeadlineExceeded) //", "	//",
	}}, watchdogs, "TestEachCallHasItsOwnTime"},
	{"a call whose time was over ends the statements of the next one", []edit{{
		"runtime/internal/watchdog/watchdog.go", "w.statements == nil || w.statements.Err() != nil", "w.statements == nil",
	}}, watchdogs, "TestEachCallHasItsOwnTime"},
	{"the work goes on behind a call that was left", []edit{{
		"runtime/internal/watchdog/watchdog.go", "	if left := w.end(); left {\n", "	if left := w.end(); left && returned == false {\n",
	}}, watchdogs, "TestCallThatDoesNotEndIsLeft"},
	{"a call is not left when the batch's time is over", []edit{{
		"runtime/internal/watchdog/watchdog.go", "	if w.work.Err() == nil {\n", "	if w.work.Err() == nil || true {\n",
	}}, watchdogs, "TestCallThatDoesNotEndIsLeft"},
	{"a call's context outlives it", []edit{{
		"runtime/internal/watchdog/context.go", "	c.ended = true\n", "",
	}}, watchdogs, "TestContextEndsWithItsCall"},
	{"a panic beside the handlers is swallowed", []edit{{
		"runtime/internal/watchdog/watchdog.go", "		panic(panicked)\n", "",
	}}, watchdogs, "TestPanicGoesOnInTheCaller"},
	{"a statement that a handler left running is the goroutine's end only", []edit{{
		"runtime/call.go", "		c.err = cmp.Or(c.life.close(), c.err)\n", "		c.err = cmp.Or(c.err, c.life.close())\n",
	}}, core, "TestStatementThatIsLeftRunningIsTheHandlersFault"},
	{"a tracer does not find the call", []edit{{
		"runtime/explicit.go", "traced: conn.Config().Tracer != nil", "traced: false",
	}}, core, "TestTracerFindsTheCallInAStatementsContext"},
}

// feedBugs are bugs of how records flow from the client to the batches.
var feedBugs = []mutant{
	{"a full queue pauses its partition at once", []edit{{
		"runtime/confluent/pressure.go", "t.pressed < moments &&", "t.pressed < 1 &&",
	}}, source, "TestFullQueueIsWaitedForWhileAllHaveWork"},
	{"a full queue never pauses its partition", []edit{{
		"runtime/confluent/pressure.go", "t.pressed < moments &&", "t.pressed < 1000*moments &&",
	}}, source, "TestQueueThatStaysFullPausesItsPartition"},
	{"a fetch has no room in a queue", []edit{{
		"runtime/confluent/queue.go", "q.records >= n*depth*q.events && q.size+framing*q.records >= 2*n*fetched", "q.records >= n*depth*q.events",
	}}, source, "TestQueueIsFull"},
	{"a full queue is waited for although another one is hungry", []edit{{
		"runtime/confluent/pressure.go", "!crowded && r.hungry() {", "false {",
	}}, source, "TestFullQueueTakesMoreForOneThatIsHungry"},
	{"a queue grows for as long as another one is hungry", []edit{{
		"runtime/confluent/pressure.go", "!crowded && r.hungry() {", "r.hungry() {",
	}}, source, "TestCrowdedQueueIsPausedForOneThatIsHungry"},
	{"a crowded queue is paused for nobody", []edit{{
		"runtime/confluent/pressure.go", "!(crowded && r.hungry())", "!crowded",
	}}, source, "TestCrowdedQueueIsWaitedForWhileAllHaveWork"},
	{"polling does not hear that a partition waits", []edit{{
		"runtime/confluent/queue.go", "	ring(q.starving)\n", "",
	}}, source, "TestFullQueueIsNotWaitedForWhileAnotherStarves"},
	{"a queue is never hungry", []edit{{
		"runtime/confluent/queue.go", "return q.open && q.waits && q.end < next", "return q.open && q.waits && q.records < 0 && q.end < next",
	}}, source, "TestHungryQueue"},
	{"a partition counts as hungry while it delivers", []edit{{
		"runtime/confluent/queue.go", "return q.open && q.waits && q.end < next", "return q.open && q.end < next",
	}}, source, "TestHungryQueue"},
	{"any partition that waits ends the wait for a full queue", []edit{{
		"runtime/confluent/queue.go", "			if hungry() {\n", "			if hungry() || true {\n",
	}}, source, "TestQueueThatStaysFullPausesItsPartitionWhileOthersAreIdle"},
	{"polling waits for a full queue until it drains", []edit{{
		"runtime/confluent/pressure.go", "t.queue.drains(moment, r.starving, r.hungry)", "t.queue.drains(moments*moment, r.starving, r.hungry)",
	}}, source, "TestFullQueuesHoldPollingUpByAMomentAtATime"},
	{"a revoke waits until the queue is delivered", []edit{{
		"runtime/confluent/rebalance.go", "		r.release(r.tenures(e.Partitions), lost)\n",
		"		for _, t := range r.tenures(e.Partitions) {\n			for !t.queue.hungry(1 << 62) {\n				time.Sleep(time.Millisecond)\n			}\n		}\n		r.release(r.tenures(e.Partitions), lost)\n",
	}}, source, "TestRevokeIsAnsweredWhileQueuesAreFull"},
	{"every batch leaves a goroutine behind", []edit{{
		"runtime/confluent/tenure.go", "		t.queue.release(records)\n", "		t.queue.release(records)\n		go func() { <-t.ctx.Done() }()\n",
	}}, source, "TestGoroutinesAreBounded"},
	{"the client's log is read when the client is gone", []edit{{
		"runtime/confluent/leave.go", "		close(r.lines) // the client writes no more\n", "",
	}}, source, "TestGoroutinesAreBounded"},
	{"a batch has room to spare", []edit{{
		"runtime/confluent/queue.go", "min(max(16, 2*len(records)), q.events)", "max(16, 2*len(records))",
	}}, source, "TestABatchHasNoMoreRoomThanItMayFill"},
	{"recent keys have room to spare", []edit{{
		"runtime/internal/recent/recent.go", "min(max(16, 2*len(k.ring)), k.most)", "max(16, 3*len(k.ring))",
	}}, recents, "TestAKeyTakesThirtySixBytes"},
	{"there may be more recent keys than the index can name", []edit{{
		"runtime/internal/recent/recent.go", "most: min(most, limit)", "most: most",
	}}, recents, "TestAMemoryIsAsLargeAsItsIndexCanName"},
}
