package main

// emitBugs are bugs of what a service sends, on its way into the outbox.
var emitBugs = []mutant{
	{"events of a batch are sent in the order of their types",
		in(waves, "Outbox.Insert").Text(`ORDER BY ordinal`, `ORDER BY event_type`),
		sending, "TestEventsAreSentInTheOrderOfTheBatch"},
	{"an event is sent whatever became of the step above it",
		in(waves, "OutEvent.SendIf").Replace(`r.Text($setting)`, `OrNull(r, r.Text, nil)`),
		sending, "TestEventsAreSentInTheOrderOfTheBatch"},
	{"else is then",
		in(waves, "OutEvent.SendIf").Replace(`r.Bool($otherwise)`, `r.Bool(false)`),
		outboxTest, "TestOrdersV1"},
	{"what is sent after the first of a name has its id",
		in(waves, "Emits.next").Drop(`$e.counts[_].n++`),
		sending, "TestIDsOfWhatIsSentComeFromTheEvent"},
	{"each try has ids of its own",
		in(waves, "OutEvent.Emit").Replace(`$of.next(_)`, `func() UUID { _ = of; return randomUUID() }()`),
		sending, "TestIDsOfWhatIsSentComeFromTheEvent"},
	{"what a handler sends is numbered before its locks",
		in("./runtime/internal/handler", "handlerTx.Queue").Always(`$h.queue == nil`),
		sending, "TestHandlersSendBehindTheirLocks"},
	{"what was sent in a savepoint outlives it",
		in("./runtime/internal/handler", "ownedTx.Begin").Replace(`handlerTx{$tx: savepoint, _, _, _}`, `handlerTx{tx: savepoint, life: t.life, trace: t.trace, own: t.own, queue: t.queue}`),
		sending, "TestHandlersSendBehindTheirLocks"},
	{"what a failed handler sent is sent",
		in("./runtime/internal/handler", "Transaction.contained").Always(`$c.err == nil`),
		sending, "TestWhatAFailedHandlerSentIsNot"},
	{"what nobody can read is sent",
		in(waves, "OutEvent.EmitAs").Replace(`$em.check(_)`, `error(nil)`),
		sending, "TestEmitRefusesWhatNobodyCouldRead"},
}

const (
	sending    = "./generator/gocode/generated"
	outboxTest = "./testdata/golden/accepted/outbox"
)
