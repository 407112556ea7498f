package main

// generatorBugs are bugs of what generated tests hold, and of what the generator warns of.
var generatorBugs = []mutant{
	{"shared keys: generated tests, the event's name is no content",
		in(sharedKeys, "Closed.fingerprint").Replace(`"Closed"`, `"Opened"`),
		sharedKeys, "TestDoorsV1/spec/one_by_one"},
	{"generated tests: two events never meet under one key",
		in(seedlogs, "writer.sharedKeys").Always(`len(before) == 0`),
		seedlogs, "TestEventsThatShareKeysMeetUnderOne"},
	{"generated tests: rows of other topics are not there",
		in(seedlogs, "before.table").Drop(`append(_.tables, _)`),
		seedlogs, "TestEveryEventOccursTwice"},
	{"generated tests: rows are there that a handler may make",
		in(seedlogs, "before.foreign").Replace(`_.Handle`, `false`),
		seedlogs, "TestOnlyRowsThatTheTopicCannotMakeAreThereBefore"},
	{"generated tests: a record that halts stays in the log",
		in("./generator", "newTestData").Replace("in.Release($topic, 0)\ncontinue", `in.Release($topic, 0)`),
		"./generator", "TestNoRecordOfALogHalts"},
	{"W910: a text of the type may go unnoticed",
		in(states, "comparison.dispatch").Replace(`len(gone) > 0`, `len(gone) > 1`),
		command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/a_text_is_gone"},
	{"W910: events are told by their names",
		in(states, "reads").Replace(`slices.ContainsFunc(_.Texts, _)`, `was == is && $0`),
		command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/an_event_is_renamed_and_needs_more"},
	{"W910: a new header of the key may be missing",
		in(states, "comparison.headers").Condition(`!needed`, `$0 && old == nil`),
		command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/the_key_moves_to_another_header"},
	{"copies_keep_record_key: records without a record key are taken",
		in("./generator/resolve", "collectFields").Never(`_.KeptByRecordKey()`),
		"./generator/resolve", "TestRecordKeyIsReadWhereItKeepsCopiesTogether"},
	{"copies_keep_record_key: proves it where a record key may move",
		in("./generator/resolve", "resolveAssume").Replace(`checkPromiseHasOrder(report, $t)`, `$t.Model.Ordered = $t.Model.CopiesKeepKey`),
		command, "TestGoldenRefused/record_keys_of_copies"},
	{"add: sums on the way are not looked at",
		in(sqlcode, "guarded").Replace(`return s.If.AtLeast`, `return nil`),
		sqlcode, "TestStatements/add_is_refused_where_one_sum_on_the_way_is_below_at_least"},
	{"add: what is subtracted is added",
		in(sqlcode, "sums.addUp").Never(`a.How == model.Subtracts`),
		sqlcode, "TestStatements/add_adds_up_what_the_events_of_one_row_add"},
	{"append: events of other streams are counted",
		in(sqlcode, "newNumbering").Drop(`stream = append(stream, value)`),
		sqlcode, "TestStatements/append_numbers_the_events_of_each_stream_behind_its_last_row"},
	{"append: any position is taken that is free",
		in(sqlcode, "newNumbering").Replace(`a.Column == s.Stream.Position && a.Value.Sent()`, `false`),
		sqlcode, "TestStatements/append_refuses_a_gap"},
	{"add: an overwrite beside it is accepted",
		in("./generator/resolve/check", "checkSums").Always(`adder == nil`),
		command, "TestGoldenRefused/add_and_overwrite"},
	{"patches: what is absent clears its column",
		in("./runtime/wire", "Patch.Sent").Replace(`p.State != PatchAbsent`, `true`),
		patches, "TestSettingsV1/spec/one_by_one"},
	{"patches: the last of equal rows alone is written",
		in("./generator/resolve/waves", "collapse").Replace(`slices.ContainsFunc(st.Set, patch)`, `false`),
		command, "TestGoldenAccepted"},
	{"a wave gathers a row that another statement wrote",
		in(waves, "Batch.Gathers").Replace(`w.row(r).gathers == step`, `w.row(r).gathers != ""`),
		waves, "TestWaves"},
}

const (
	seedlogs   = "./generator/seedlog"
	states     = "./generator/state"
	command    = "./cmd/idemgen"
	patches    = "./testdata/golden/accepted/patches"
	sharedKeys = "./testdata/golden/accepted/shared_keys"
)
