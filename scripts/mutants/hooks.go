package main

const notifying = "./runtime/internal/notify"

// hookBugs are bugs of what hooks are told.
var hookBugs = []mutant{
	{"hooks: events are told when they are sent, not when they stand",
		in(room, "transaction.attempt").After(`$o.chain.Try(_)`, `$o.p.process.Hooks.Events($o.p.id, d.Events)`),
		core, "TestEventHooksHearOfALostReplyOnce"},
	{"hooks: dead letters are no events",
		in(room, "Decider.Decide").Never(`_.Events`),
		core, "TestEventHooksHearEveryOutcome"},
	{"hooks: a step is told while the partition is locked",
		in(room, "Partition.next").Replace(`$p.tellState(_, _, _, _)`, `$p.mu.Lock(); $p.tellState(from, next, was, why); $p.mu.Unlock()`),
		core, "TestStateHooksHearStepsInOrder"},
	{"hooks: batches are told as steps",
		in(room, "Partition.tellState").Never(`s == protocol.Sent`),
		core, "TestStateHooksHearStepsInOrder"},
	{"hooks: a step is told from a state that was not told",
		in(room, "Partition.tellState").Replace(`told(from)`, `from`),
		core, "TestStateHooksHearAChainOfStates"},
	{"hooks: a method of the pointer is passed over",
		in(notifying, "keep").Replace(`s.err = fmt.Errorf(_, s.hook, name)`, `_ = name`),
		notifying, "TestHookThatWouldNotHearIsRefused"},
	{"hooks: a panic is the partition's",
		in(notifying, "listener.call").After(`l.report(_, _, _, _, _)`, `panic(r)`),
		core, "TestPanicOfAHookLeavesThePartitionAtWork"},
	{"hooks: a call does not get the context that a hook made for it",
		in("./runtime/internal/effect", "task.begins").Replace(`$p.Hooks.CallStart(ctx, _)`, `ctx`),
		"./runtime/idemotel", "TestCallsOfEffects"},
	{"hooks: the end of a Writer's batch is not told",
		in(room, "Owner.Apply").Drop(`hooks.BatchEnd(_, _, _, _)`),
		core, "TestBatchHooksSeeBatchesOfAWriter"},
	{"a panic of the runtime is a step that the table lacks",
		in(room, "Owner.halt").Never(`why.Code == halt.Runtime`),
		core, "TestPanicOfTheRuntimeIsTheReason"},
}
