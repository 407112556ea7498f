package main

// copyBugs are bugs of the audit of copies: same_partition.
var copyBugs = []mutant{
	{"audit: other chains are never compared", []edit{{
		"runtime/internal/copies/audit.go", "return other != c && other.id == c.id &&", "return other != c && other.id != c.id &&",
	}}, audits, "TestKeyInTwoPartitionsIsAnAlarmWithBothPlaces"},
	{"audit: a topic that was made again counts as the same", []edit{{
		"runtime/internal/copies/audit.go", "return other != c && other.id == c.id &&", "return other != c && other.topic == c.topic &&",
	}}, audits, "TestKeysThatMayStandTwiceAreNoAlarm"},
	{"audit: a chain is read from the window on each time", []edit{{
		"runtime/internal/copies/audit.go", "c.next = max(c.next, window); lost {", "c.next = window; lost {",
	}}, audits, "TestRowsAreReadOnceThoughTheyAreTrimmed"},
	{"audit: rows that a failover took back count as read", []edit{{
		"runtime/internal/copies/audit.go", "c.next = max(c.next, window); lost {", "c.next = max(c.next, window); lost && false {",
	}}, audits, "TestRowsThatCameInPlaceOfOthersAreRead"},
	{"audit: the first copy's place is kept", []edit{{
		"runtime/internal/copies/audit.go", "		if !known || before.written <= p.written {", "		if !known {",
	}}, audits, "TestThirdCopyIsComparedWithTheSecond"},
	{"audit: keys count although their window is over", []edit{{
		"runtime/internal/copies/audit.go", "&& apart < c.window", "&& apart >= 0",
	}}, audits, "TestKeyWhoseWindowIsOverIsNoAlarm"},
	{"audit: the sample grows with the window", []edit{{
		"runtime/internal/copies/sample.go", "&& len(s.places) == most {", "&& len(s.places) == -1 {",
	}}, audits, "TestMemoryOfTheAuditIsBounded"},
	{"audit: of two copies one may be in the sample", []edit{{
		"runtime/internal/copies/sample.go", "	if s.covers(key) {\n", "	if len(s.places)%2 == 0 {\n",
	}}, audits, "TestKeyInTwoPartitionsIsAnAlarmWithBothPlaces"},
	{"audit: it does not run", []edit{{
		"runtime/internal/maintain/maintain.go", "	parts = append(parts, j.Copies.Look)", "	// ",
	}}, core, "TestCopyInAnotherPartitionIsAnAlarm"},
	{"audit: an old breach makes a new process unhealthy", []edit{{
		"runtime/internal/copies/alarm.go", "fresh - a.now.Sub(time.UnixMicro(second.written))", "fresh",
	}}, audits, "TestOldBreachIsNoReasonToBeUnhealthy"},
	{"audit: each process counts the whole window again", []edit{{
		"runtime/internal/copies/audit.go", "a.since = a.now.Add(-fresh)", "a.since = time.Unix(0, 0)",
	}}, audits, "TestOldBreachIsNoReasonToBeUnhealthy"},
	{"audit: a breach that is read late is not counted", []edit{{
		"runtime/internal/copies/audit.go", "if a.since.IsZero() && len(all) > 0 {", "if len(all) > 0 {",
	}}, audits, "TestBreachOfThisProcessIsCountedHoweverLateItIsRead"},
}

const audits = "./runtime/internal/copies"
