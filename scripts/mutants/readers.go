package main

// readerBugs are bugs of what people read of dead letters and ledgers.
var readerBugs = []mutant{
	{"a tombstone is kept as an empty value",
		in(records, "appendBytes").Never(`v == nil`),
		records, "TestWhatIsStoredIsReadAgain"},
	{"what stands behind a stored record is not looked at",
		in(records, "Parse").Never(`r.err == nil && len(r.rest) > 0`),
		records, "TestDamagedRecordIsRefused"},
}
