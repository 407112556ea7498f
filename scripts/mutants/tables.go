package main

// tableBugs are bugs of what is known of tables that are there already.
var tableBugs = []mutant{
	{"tables: a narrower type will do",
		in("./internal/pgtable", "holds").Replace(`h.size >= w.size`, `h.size > 0`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/a_narrower_type"},
	{"tables: any index with the columns of a key will do",
		in("./internal/pgtable", "comparison.keys").Replace(`!k.Deferrable`, `true`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/a_deferrable_key"},
	{"tables: the events that leave a column out are those that change rows only",
		in("./internal/gen/gocode", "left").Replace(`st.Makes`, `!st.Makes`),
		specs, "TestGoldenAccepted"},
	{"tables: any enum will do",
		in("./internal/pgtable", "comparison.texts").Replace(`!slices.Contains(h.Labels, text)`, `false`),
		"./runtime/internal/catalog", "TestTablesAreComparedWithTheSpec/an_enum_without_a_text"},
	{"tables: what a spec needs no more is not kept up",
		in("./generator", "migrations").Replace(`!h.written(format, p.Base(1))`, `true`),
		specs, "TestTheRuntimesTablesComeByNeed"},
	{"init: steps may write what the database generates",
		in("./generator", "fillsItself").Replace(`c.Always != ""`, `false`),
		specs, "TestInitDescribesADatabase"},
}
