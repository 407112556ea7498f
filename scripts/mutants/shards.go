package main

// shardBugs are bugs of consumers with several databases.
var shardBugs = []mutant{
	{"shards: partitions are all in the first",
		in(core, "Consumer.shardOf").Replace(`int(p.Number)%len(c.shards)`, `0`),
		core, "TestPartitionsAreAppliedInTheirShards"},
	{"shards: a process with other shards is not halted",
		in("./runtime/internal/engine", "takeOver.checkShard").Never(`recorded != is`),
		core, "TestPartitionsAreAppliedInTheirShards"},
	{"shards: a partition that is new to a database is not checked",
		in("./runtime/internal/engine", "takeOver.genesis").Drop(`if err := t.checkShard(ctx); err != nil {
		return err
	}`),
		core, "TestChangedNumberOfShardsStopsOwners"},
	{"shards: a database that is away at the start holds up the others",
		in(core, "Consumer.startShards").Replace(`<-started`, `func() error { all.Wait(); return <-started }()`),
		core, "TestShardsStartEachByItself"},
	{"shards: a database without migrations does not end the service",
		in(core, "Consumer.startShards").Drop(`fail(err)`),
		core, "TestShardsStartEachByItself"},
	{"shards: keys that all partitions know are accepted",
		in(core, "checkShards").Never(`t.Window > 0`),
		core, "TestShardsThatCannotBe"},
	{"shards: an operator's ledger is of shard 0 of 1",
		in("./internal/operate", "Reshard").Replace(`ledger.Int4(is.Of)`, `ledger.Int4(1)`),
		command, "TestStreamShard"},
	{"shards: partitions of other shards are listed",
		in("./internal/operate", "Status.Elsewhere").Replace(`!s.in().Has(s.Partition)`, `false`),
		command, "TestStreamShard"},
}
