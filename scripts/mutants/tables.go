package main

// tableBugs are bugs of what is known of tables that are there already.
var tableBugs = []mutant{
	{"tables: statements forget the schema",
		in(sqlcode, "tableIdent").Always(`t.Schema == ""`),
		command, "TestGoldenAccepted"},
	{"tables: a table that moved goes unnoticed",
		in(states, "tableDiff.table").Never(`old.Place != now.Place`),
		states, "TestPlacesInTheDatabase"},
	{"tables: what was made of an external table is forgotten",
		in(states, "tablesAfter").Never(`old != nil`),
		states, "TestExternalTables"},
}
