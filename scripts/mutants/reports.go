package main

const reporting = "./runtime/internal/report"

// reportBugs are bugs of what processes say of themselves in their database, and of what is made
// of it.
var reportBugs = []mutant{
	{"reports: a batch fails if its process cannot report itself",
		in(core, "sink.Deliver").Before(`return $p.Deliver(ctx, records)`, `conn, err := s.shards[0].process.Pool.Report(ctx)
if err != nil { return err }
defer conn.Close(ctx)
if _, err := conn.Exec(ctx, "UPDATE idem_process SET seen_at = clock_timestamp()"); err != nil { return err }`),
		core, "TestBatchesDoNotWaitForAReport/locked"},
	{"reports: the row stays when its process ends",
		in(reporting, "Writer.run").Drop(`defer $w.end(ctx)`),
		reporting, "TestRowIsDeletedAtTheEnd"},
	{"reports: rows of processes that were killed stay",
		in(reporting, "Writer.write").Replace(`return $w.exec(ctx, pruneSQL)`, `return nil`),
		reporting, "TestOldRowsAreDeleted"},
	{"reports: the end of a process waits for the database",
		in(reporting, "Writer.Start").Drop(`defer time.AfterFunc(_, cancel).Stop()`),
		reporting, "TestEndDoesNotWaitForTheDatabase"},
	{"reports: a change waits for the next regular write",
		in(reporting, "Writer.turn").Replace(`!changed($w.written, &r)`, `true`),
		reporting, "TestChangeIsWrittenAtOnce"},
	{"reports: every reading is a change",
		in(reporting, "Writer.turn").Replace(`!changed($w.written, &r)`, `false`),
		reporting, "TestRowIsWrittenRegularly"},
	{"reports: a reason that Postgres does not store leaves no row",
		in(reporting, "Text").Replace(`strings.ReplaceAll(_, _, _)`, `strings.ToValidUTF8(s, "\uFFFD")`),
		reporting, "TestRowIsBounded"},
	{"reports: partitions that make progress take the place of halted ones",
		in(reporting, "works").Never(`p.Code == ""`),
		reporting, "TestRowIsBounded"},
	{"reports: a connection that was lost is a failure",
		in(reporting, "Writer.exec").Always(`!used || !lost || ctx.Err() != nil`),
		reporting, "TestLostConnectionIsReplaced"},
	{"reports: each failure is logged",
		in(reporting, "Writer.tell").Replace(`err != nil && $w.failed == 0`, `err != nil`),
		reporting, "TestFailureIsLoggedOnceAndEnds"},
	{"reports: a problem begins anew with every word of its reason",
		in(reporting, "times.keep").Never(`known && _`),
		reporting, "TestSinceIsWhenItBegan"},
	{"reports: what a silent process said last is the state",
		in(operators, "Reported.Unknown").Never(`r.Silent`),
		operators, "TestPartitionIsReportedByItsOwner"},
	{"reports: a process is never silent",
		in(operators, "processesSQL").Text(`> 3 * every`, `> 300 * every`),
		operators, "TestProcessesAreReadAsTheyReport"},
	{"reports: the report of who stands by hides the owner's",
		in(operators, "prefer").Replace(`first($a.owns(), $b.owns())`, `0`),
		operators, "TestPartitionIsReportedByItsOwner"},
	{"reports: doctor says ok beside a halted partition",
		in("./cmd/idemgen/internal/doctor", "cluster.topic").Drop(`fine = fine && !stopped`),
		command, "TestDoctorReadsWhatProcessesReport"},
	{"reports: the list shows what a silent process said last",
		in(command, "stateOf").Never(`s.Reported.Unknown() != ""`),
		command, "TestStreamListShowsOwnersAndStates"},
}
