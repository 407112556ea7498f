package main

// writeBugs are bugs of how the steps of a spec become statements, in an order that keeps the
// log's. Earlier trials of generated code showed them.
var writeBugs = []mutant{
	{"rows of a wave are not told apart",
		in(waves, "Batch.Puts").Replace(`$t.whole || $a.put || $a.deleted || $other`, `$t.whole && $a.put && $a.deleted && $other`),
		waves, "TestWaves"},
	{"children do not wait for a deleted parent",
		in(waves, "Batch.Reads").Replace(`$a.deleted || $whole`, `$a.deleted && $whole`),
		waves, "TestWaves"},
	{"a guard lets older values win",
		in(telemetry, "readingUpsertDeviceStateSQL").Text(`WHERE t.seq < excluded.seq`, ``),
		telemetry, "TestTelemetryV1"},
	{"the oldest of a batch wins instead of the newest",
		in(telemetry, "readingUpsertDeviceStateSQL").Text(`seq DESC, generate_subscripts`, `seq, generate_subscripts`),
		telemetry, "TestTelemetryV1"},
	{"of equal versions the last wins instead of the first",
		in(telemetry, "readingUpsertDeviceStateSQL").Text(`generate_subscripts($1::text[], 1)`, `generate_subscripts($1::text[], 1) DESC`),
		telemetry, "TestTelemetryV1"},
	{"positions of elements count from 0",
		in(orders, "ordersV1Plan.addOrderPlaced").Replace(`int32($i + 1)`, `int32($i)`),
		orders, "TestOrdersV1/spec"},
	{"a delete leaves rows",
		in(orders, "orderErasedDeleteOrderItemsSQL").Text(`RETURNING true`, `AND t.line > 1 RETURNING true`),
		orders, "TestOrdersV1/spec"},
}
