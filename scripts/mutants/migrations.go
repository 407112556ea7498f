package main

// migrationBugs are bugs of what migrations do to tables in use.
var migrationBugs = []mutant{
	{"migrations: what locks a table in use waits for it without end",
		in("./internal/gen/sqlcode", "Migration.body").Never(`m.OldTables`),
		specs, "TestGoldenHistory"},
	{"plan: a type that goes to another event keeps its keys",
		in(states, "lineage.before").Replace(`!o.Gone && l.reads(o, n)`, `false`),
		specs, "TestPlan/a_type_goes_to_another_event"},
	{"plan: a patch that is read elsewhere is a dead letter",
		in(evolutions, "fields.moved").Replace(`!required(f)`, `false`),
		specs, "TestPlan/another_path_of_a_patch"},
	{"plan: a copy that is applied again breaks nothing",
		in("./internal/gen/evolution", "Verdict.Breaks").Never(`v == BreaksDedup`),
		specs, "TestPlan"},
}
