package main

// hookBugs are bugs of what hooks are told.
var hookBugs = []mutant{
	{"hooks: events are told when they are sent, not when they stand",
		in(core, "Owner.attempt").After(`$o.chain.Try(_)`, `$o.p.process.Hooks.Events($o.p.id, d.Events)`),
		core, "TestEventHooksHearOfALostReplyOnce"},
	{"hooks: dead letters are no events",
		in(core, "Decider.Decide").Never(`_.Events`),
		core, "TestEventHooksHearEveryOutcome"},
	{"hooks: a step is told while the partition is locked",
		in(core, "Partition.next").Replace(`$p.tellState(_, _, _)`, `$p.mu.Lock(); $p.tellState(from, next, why); $p.mu.Unlock()`),
		core, "TestStateHooksHearStepsInOrder"},
	{"hooks: batches are told as steps",
		in(core, "Partition.tellState").Replace(`working(to)`, `!working(to)`),
		core, "TestStateHooksHearStepsInOrder"},
	{"hooks: a value without methods is taken",
		in("runtime/internal/notify", "New").Never(`!asks`),
		core, "TestNewRefusesAHookWithoutMethods"},
}
