package main

// compareBugs are bugs of the comparison with other ways: it would say what is not so.
var compareBugs = []mutant{
	{"the comparison's ids by hand are not looked at",
		in(comparisons, "newID").Text("tag.RowsAffected() == 1", "tag.RowsAffected() >= 0"),
		comparisons, "TestPageSaysWhatHappens"},
	{"the comparison does not see what is doubled",
		in(comparisons, "cell.audit").Text("sum(bookings - 1)", "sum(0)"),
		comparisons, "TestPageSaysWhatHappens"},
}
