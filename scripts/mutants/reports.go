package main

const reporting = "./runtime/internal/report"

// reportBugs are bugs of what processes say of themselves in their database, and of what is made
// of it.
var reportBugs = []mutant{
	{"reports: a batch fails if its process cannot report itself",
		in(core, "sink.Deliver").Before(`return $p.Deliver(ctx, records)`, `conn, err := s.process.Pool.Report(ctx)
if err != nil { return err }
defer conn.Close(ctx)
if _, err := conn.Exec(ctx, "UPDATE idem_process SET seen_at = clock_timestamp()"); err != nil { return err }`),
		core, "TestBatchesDoNotWaitForAReport/locked"},
	{"reports: rows of processes that were killed stay",
		in(reporting, "Writer.write").Replace(`return $w.exec(ctx, pruneSQL)`, `return nil`),
		reporting, "TestOldRowsAreDeleted"},
	{"reports: a change waits for the next regular write",
		in(reporting, "Writer.turn").Replace(`!changed($w.written, &r)`, `true`),
		reporting, "TestChangeIsWrittenAtOnce"},
	{"reports: every reading is a change",
		in(reporting, "Writer.turn").Replace(`!changed($w.written, &r)`, `false`),
		reporting, "TestRowIsWrittenRegularly"},
	{"reports: a reason that Postgres does not store leaves no row",
		in(reporting, "Text").Replace(`strings.ReplaceAll(_, _, _)`, `strings.ToValidUTF8(s, "\uFFFD")`),
		reporting, "TestRowIsBounded"},
	{"reports: each failure is logged",
		in(reporting, "Writer.tell").Replace(`err != nil && $w.failed == 0`, `err != nil`),
		reporting, "TestFailureIsLoggedOnceAndEnds"},
	{"reports: a process is never silent",
		in(operators, "scanProcess").Replace(`3*every`, `300*every`),
		operators, "TestProcessesAreReadAsTheyReport"},
	{"reports: a row with times of no process is an error",
		in(operators, "processesSQL").Text(`extract(epoch FROM every)::float8`, `extract(epoch FROM 3 * every)::float8 / 3`),
		operators, "TestEachRowOfAProcessIsJudgedAlone"},
	{"reports: a row that cannot be read has no problem",
		in(operators, "scanProcess").Replace(`unread != ""`, `false`),
		operators, "TestEachRowOfAProcessIsJudgedAlone"},
	{"reports: the report of who stands by hides the owner's",
		in(operators, "prefer").Replace(`first($a.owns(), $b.owns())`, `0`),
		operators, "TestPartitionIsReportedByItsOwner"},
	{"reports: what has no ledger is not in the list before the first ledger",
		in(operators, "List").Replace(`$none && len(others) > 0`, `$none && false`),
		operators, "TestListHasPartitionsWithoutLedger"},
	{"reports: doctor takes no ledger for one whose rows are gone",
		in(doctors, "examination.positions").Replace(`!s.NoLedger()`, `true`),
		commands, "TestHaltWithoutALedgerIsSeen"},
}
