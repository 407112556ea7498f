package main

// generatorBugs are bugs of what generated tests hold, and of what the generator warns of.
var generatorBugs = []mutant{
	{"shared keys: generated tests, the event's name is no content", []edit{{
		"testdata/golden/accepted/shared_keys/idem_doors_v1_gen.go", `f.Event("Closed")`, `f.Event("Opened")`,
	}}, "./testdata/golden/accepted/shared_keys", "TestDoorsV1/spec/one_by_one"},
	{"generated tests: two events never meet under one key", []edit{{
		"generator/seedlog/sharing.go", "%len(events)]; a != b &&", "%len(events)]; a == nil &&",
	}}, seedlogs, "TestEventsThatShareKeysMeetUnderOne"},
	{"generated tests: rows of other topics are not there", []edit{{
		"generator/seedlog/before.go", "	b.tables = append(b.tables, t)\n", "",
	}}, seedlogs, "TestEveryEventOccursTwice"},
	{"generated tests: rows are there that a handler may make", []edit{{
		"generator/seedlog/before.go", "func(e *model.Event) bool { return e.Handle })", "func(e *model.Event) bool { return false })",
	}}, seedlogs, "TestOnlyRowsThatTheTopicCannotMakeAreThereBefore"},
	{"generated tests: a record that halts stays in the log", []edit{{
		"generator/testdata.go", "			in.Release(t.Name, 0)\n			continue\n", "			in.Release(t.Name, 0)\n",
	}}, "./generator", "TestNoRecordOfALogHalts"},
	{"W910: a text of the type may go unnoticed", []edit{{
		"generator/state/dispatchdiff.go", "if len(gone) > 0 &&", "if len(gone) > 1 &&",
	}}, command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/a_text_is_gone"},
	{"W910: events are told by their names", []edit{{
		"generator/state/dispatchdiff.go", "	return slices.ContainsFunc(before.Texts,", "	return was == is && slices.ContainsFunc(before.Texts,",
	}}, command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/an_event_is_renamed_and_needs_more"},
	{"W910: a new header of the key may be missing", []edit{{
		"generator/state/dispatchdiff.go", "		if !needed {\n", "		if !needed && old == nil {\n",
	}}, command, "TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf/the_key_moves_to_another_header"},
	{"copies_keep_record_key: records without a record key are taken", []edit{{
		"generator/resolve/events.go", " || e.keptByRecordKey())", ")",
	}}, "./generator/resolve", "TestRecordKeyIsReadWhereItKeepsCopiesTogether"},
	{"copies_keep_record_key: proves it where a record key may move", []edit{{
		"generator/resolve/topics.go", "		r.checkPromiseHasOrder(t)\n", "		t.model.Ordered = t.model.CopiesKeepKey\n",
	}}, "./generator/resolve", "TestRefused/record_keys_of_copies"},
}

const (
	seedlogs = "./generator/seedlog"
	command  = "./cmd/idemgen"
)
