package main

// slowBugs are bugs of transactions that end early, of deadlines, and of the search for the
// record that an error is about.
var slowBugs = []mutant{
	{"a transaction with slow handlers does not end early", []edit{{
		"runtime/shorten.go", "return ok && time.Until(end)", "return ok && false && time.Until(end)",
	}}, core, "TestSlowHandlersAreCalledOnce"},
	{"a transaction that ends early goes on in front of its last call", []edit{{
		"runtime/explicit.go", "i = x.lastCall()", "i = x.lastCall() - 1",
	}}, core, "TestTransactionThatEndsEarlySaysNothingOfTheRest"},
	{"the row of a transaction that ended early keeps the token of the whole", []edit{{
		"runtime/shorten.go", "	*x.a = o.attempt(w)\n", "	*x.a = o.attempt(w)\n	x.a.row.Token = before.row.Token\n",
	}}, core, "TestLostReplyOfATransactionThatEndedEarly"},
	{"the attempt of a transaction that ended early is not remembered", []edit{{
		"runtime/shorten.go", "	*x.a = o.attempt(w)\n", "	*x.a = o.attempt(w)\n	o.attempts = o.attempts[:len(o.attempts)-1]\n",
	}}, core, "TestLostReplyOfATransactionThatEndedEarly"},
	{"the row of a transaction that ended early keeps the end of the whole", []edit{{
		"runtime/shorten.go", "	*x.a = o.attempt(w)\n", "	*x.a = o.attempt(w)\n	x.a.row.Next = before.row.Next\n",
	}}, core, "TestTransactionThatEndsEarlySaysNothingOfTheRest"},
	{"a transaction that ended early keeps the claims of the rest", []edit{{
		"runtime/shorten.go", "len(left) > 0 {", "len(left) > 0 && false {",
	}}, core, "TestKeysOfTheRestAreFree"},
	{"dead letters of the rest are written when a transaction ends early", []edit{{
		"runtime/shorten.go", "	x.w, x.pending = w, append(", "	w.letters = x.w.letters\n	x.w, x.pending = w, append(",
	}}, core, "TestTransactionThatEndsEarlySaysNothingOfTheRest"},
	{"a statement whose time is over is left to itself", []edit{{
		"runtime/session.go", "	cfg.ConnConfig.BuildContextWatcherHandler = endOnServer\n", "",
	}}, core, "TestRecordThatExceedsTheBatchTimeoutIsGivenUp"},
	{"a handler whose transaction takes too long alone is never given up", []edit{{
		"runtime/judge.go", "h.call.Policy, h.err); again {\n		o.limit = 1", "h.call.Policy, h.err); again || true {\n		o.limit = 1",
	}}, core, "TestRecordThatExceedsTheBatchTimeoutIsGivenUp"},
	{"an error that is nobody's halts without a search", []edit{{
		"runtime/judge.go", "if theirs && len(records) > 1 {", "if theirs && len(records) < 0 {",
	}}, core, "TestErrorOfOneRowHaltsBeforeItsRecord"},
	{"errors of the protocol's own statements are searched", []edit{{
		"runtime/judge.go", "	_, theirs := errors.AsType[*pgerror.Write](err)\n", "	theirs := true\n",
	}}, core, "TestErrorOfTheProtocolsStatementsIsNotSearched"},
	{"a call that went well does not end the count of failures", []edit{{
		"runtime/judge.go", "		c.failed = 0\n", "",
	}}, core, "TestCallThatWentWellEndsTheCountOfFailures"},
}
