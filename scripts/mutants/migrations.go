package main

// migrationBugs are bugs of what migrations do to tables in use.
var migrationBugs = []mutant{
	{"plan: a type that goes to another event keeps its keys",
		in(states, "lineage.before").Replace(`!o.Gone && l.reads(o, n)`, `false`),
		specs, "TestPlan/a_type_goes_to_another_event"},
	{"plan: a patch that is read elsewhere is a dead letter",
		in(evolutions, "fields.moved").Replace(`!required(f)`, `false`),
		specs, "TestPlan/another_path_of_a_patch"},
}
