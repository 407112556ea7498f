package main

// readerBugs are bugs of what people read of dead letters and ledgers.
var readerBugs = []mutant{
	{"an offset that is read again is answered by the row of the first time",
		in(operators, "coveringSQL").Text(`ORDER BY l.seq DESC LIMIT`, `ORDER BY l.seq LIMIT`),
		operators, "TestOffsetIsFoundWhereverThePositionWent"},
	{"a dead letter is the answer although its offset was applied later",
		in(operators, "FindOffset").Replace(`letter.Seq >= row.Seq`, `letter.Seq >= 0`),
		operators, "TestLetterIsTheAnswerUntilItsOffsetIsReadAgain"},
	{"a key that stands across two keys of a row is taken for one",
		in(operators, "chainKeySQL").Text(`substring(keys FROM at FOR 16) = $2::bytea`, `true`),
		operators, "TestKeyInALedger"},
	{"Health does not say what ends a halt",
		in(room, "Partition.problem").Replace(`halted.Ways[0].String()`, `""`),
		core, "TestLagOfAPartitionThatStands"},
	{"Health does not know since when a partition waits",
		in(room, "Partition.show").Replace(`time.Now()`, `time.Time{}`),
		core, "TestLagOfAPartitionThatStands"},
}
