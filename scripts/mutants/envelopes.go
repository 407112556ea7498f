package main

// envelopeBugs are bugs of what records are wrapped in.
var envelopeBugs = []mutant{
	{"CloudEvents: headers beside a structured event win",
		in(strictJSON, "CloudEvents.structured").Replace(`strings.HasPrefix(h.Name, attributePrefix)`, `false`),
		strictJSON, "TestCloudEventsOfBothModesAreOne"},
	{"CloudEvents: an event without an id is taken",
		in(strictJSON, "CloudEvents.Open").Never(`len(value) == 0`),
		strictJSON, "TestCloudEventsRefuses"},
	{"CloudEvents: an event is overwritten by the next",
		in(strictJSON, "CloudEvents.structured").Drop(`$s.text = nil`),
		strictJSON, "TestOpenedEventsStayValid"},
}
