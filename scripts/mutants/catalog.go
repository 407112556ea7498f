package main

// catalogBugs are bugs of what the service learns from the database's catalog.
var catalogBugs = []mutant{
	{"rights to the runtime's tables are not looked at",
		in("./runtime/internal/catalog", "CheckRuntime").Replace(`pgtable.Join(lacks)`, `pgtable.Join(lacks[:0])`),
		core, "TestMissingRightsShowAtTheStart"},
	{"what is planted after the start is not looked for",
		in("./runtime/internal/pool", "Pool.Open").Replace(`catalog.CheckPlanted(ctx, conn)`, `error(nil)`),
		core, "TestPlantedObjectsStopARunningService/a_new_connection"},
	{"connections stay in use after an upkeep found planted functions",
		in("./runtime", "Consumer.connectUpkeep").Drop(`c.process.Pool.Reset()`),
		core, "TestPlantedObjectsStopARunningService/an_upkeep"},
	{"what is planted for an enum is not looked for",
		in("./internal/pgtable", "plantedSQL").Text(`AND t.typowner OPERATOR(pg_catalog.<>) x.owner`, `AND false`),
		core, "TestPlantedForOtherTypes"},
	{"equal rows collapse although each must be judged",
		in(waves, "Batch.Upserts").Replace(`$apart != 0`, `$apart > ApartRecords`),
		boundaries, "TestBoundariesCarryNoMeaning"},
	{"records share a wave although a trigger sees them",
		in(waves, "Batch.Add").Replace(`$b.wave.records`, `$0 && func() bool { for _, s := range $b.steps { if s.Stage == GoCall { return true } }; return false }()`),
		boundaries, "TestBoundariesCarryNoMeaning"},
	{"keys are compared byte by byte although they may be loose",
		in(waves, "Batch.Puts").Replace(`$apart >= ApartTable`, `$apart > ApartRecords`),
		boundaries, "TestBoundariesCarryNoMeaning"},
	{"partitions of a table are not read",
		in(core, "factsSQL").Text(`FROM family f JOIN pg_inherits i ON i.inhparent = f.oid ), outside`, `FROM family f JOIN pg_inherits i ON i.inhparent = f.oid AND false), outside`),
		"./runtime/internal/catalog", "TestVerdicts"},
	{"any encoding is taken",
		in(core, "runtimeRefusal").Replace(`$f.detail != "UTF8"`, `$f.detail == ""`),
		core, "TestOtherEncodingsAreRefusedAtTheStart"},
}

const boundaries = "./generator/gocode/generated"
