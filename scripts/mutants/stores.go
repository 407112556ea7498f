package main

// storeBugs are bugs of effects whose leases are in a store outside of Postgres.
var storeBugs = []mutant{
	{"a number of a stream that is in use halts the partition",
		in(room, "Chain.Begin").Replace(`continue`, `break`),
		engines, "TestDatabaseThatWasMovedWithoutItsSequences"},
	{"a lease in Postgres is not looked for once the spec says redis",
		in(effects, "task.acquire").Always(`!$s.here`),
		effects, "TestALeaseInPostgresStaysThere"},
	{"a number that is stale is not drawn past the known one",
		in(effects, "task.acquire").Drop(`$t.skip = past(_, _)`),
		effects, "TestStaleNumbersAreDrawnAnew"},
	{"the numbers of other stores' leases are not those of idem_fence",
		in(leases, "lookSQL").Text(`SELECT nextval('idem_fence') AS fence`, `SELECT 1::bigint AS fence`),
		effects, "TestTheLeasesOfOtherStoresAreNumbered"},
	{"a broken store is asked for ever",
		in(effects, "isBroken").Replace(`return $is`, `return false && is`),
		effects, "TestABrokenStoreHalts"},
	{"a call outlives a lease that could not be extended",
		in(effects, "extend").Replace(`time.AfterFunc(time.Until(_), _)`, `time.AfterFunc(time.Hour, func() { lost(lease.ErrLost) })`),
		effects, "TestALostLeaseEndsTheCall"},
	{"the heartbeat goes on while the answer is recorded",
		in(effects, "task.call").Replace(`$beat.stop()
	held, over := _`, `held, over := t.store(ctx, &hold, end); beat.stop()`),
		effects, "TestTheHeartbeatStopsBeforeTheRecord"},
	{"copies in one process ask for one lease in one question",
		in(effects, "eachOnce").Never(`slices.ContainsFunc(_, _)`),
		effects, "TestCopiesAtOnce"},
	{"more calls than slots",
		in(effects, "NewProcess").Replace(`max(1, $most)`, `max(100, most)`),
		effects, "TestOrderAndSlots"},
}
