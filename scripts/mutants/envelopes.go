package main

// envelopeBugs are bugs of what records are wrapped in, and of what tells their event.
var envelopeBugs = []mutant{
	{"event_version: a version that is missing is any version",
		in(waves, "Message.OptHeader").Replace(`n < 2`, `n < 3`),
		"./runtime/wire", "TestOptionalHeaderIsThereOnceAtMost"},
	{"event_version: the type is lost while the version is read",
		in(strictJSON, "Scanner.EventVersion").Never(`len($s.text) > 0`),
		strictJSON, "TestTypeStaysValidWhileTheVersionIsRead"},
	{"W910: a version goes unnoticed",
		in(states, "Dispatch.takes").Always(`$d.VersionBy == ""`),
		command, "TestChangesOfVersionsThatLeaveOlderRecordsUnhandledAreWarnedOf"},
	{"CloudEvents: headers beside a structured event win",
		in(strictJSON, "CloudEvents.structured").Replace(`strings.HasPrefix(h.Name, attributePrefix)`, `false`),
		strictJSON, "TestCloudEventsOfBothModesAreOne"},
	{"CloudEvents: an event without an id is taken",
		in(strictJSON, "CloudEvents.Open").Never(`len(value) == 0`),
		strictJSON, "TestCloudEventsRefuses"},
	{"CloudEvents: an event is overwritten by the next",
		in(strictJSON, "CloudEvents.structured").Drop(`$s.text = nil`),
		strictJSON, "TestOpenedEventsStayValid"},
	{"names: topics of an entry are taken to be ordered against each other",
		in("./generator/resolve/draft", "Topic.Apart").Replace(`!$t.Model.Disjoint`, `$t.Model.Disjoint`),
		command, "TestGoldenRefused/several_topics"},
	{"names: another topic is read",
		in("./generator/gocode", "pkg.serviceLiteral").Replace(`lit(name)`, `lit(name[:1])`),
		command, "TestGoldenAccepted"},
}
