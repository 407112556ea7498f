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
	{"tables: a narrower type will do",
		in("./runtime/pgtable", "holds").Replace(`h.size >= w.size`, `h.size > 0`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/a_narrower_type"},
	{"tables: any index with the columns of a key will do",
		in("./runtime/pgtable", "comparison.keys").Replace(`!k.Deferrable`, `true`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/a_deferrable_key"},
	{"tables: a column that no row can be without goes unnoticed",
		in("./runtime/pgtable", "comparison.unknownColumns").Never(`!h.fills() && !slices.ContainsFunc(_, _)`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/an_unknown_column"},
	{"tables: a service starts whatever its tables are like",
		in("./runtime/internal/catalog", "CheckTables").Always(`len(wrong) == 0`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/no_column"},
	{"init: steps may write what the database generates",
		in("./generator", "fillsItself").Replace(`c.Always != ""`, `false`),
		command, "TestInitDescribesADatabase"},
}
