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
<<<<<<< HEAD
=======
	{"migrations: a number with fewer digits before the point counts as wider",
		in(states, "takesAll").Never(`size-scale >= oldSize-oldScale`),
		states, "TestTableChanges"},
	{"migrations: a key keeps the name of the table before",
		in(states, "Rename.named").Never(`moved || !slices.Equal(k.From, k.To)`),
		command, "TestGoldenHistory"},
	{"migrations: what locks a table in use waits for it without end",
		in("./generator/sqlcode", "Migration.body").Never(`m.OldTables`),
		command, "TestGoldenHistory"},
	{"plan: a copy that is applied again breaks nothing",
		in("./generator/evolution", "Verdict.Breaks").Never(`v == BreaksDedup`),
		command, "TestPlan"},
>>>>>>> plan
}
