package main

import (
	"strings"
	"testing"
)

// What holds of types holds of versions: a change after which records of yesterday are of no event
// is told.
func TestChangesOfVersionsThatLeaveOlderRecordsUnhandledAreWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: {header: type}\n    event_version: {header: version}", "type: closed,", "type: closed, version: 1,").Replace(twoEvents)
	const locked = "Locked: {type: closed, version: 2, handle: true}\n      Closed: {type: closed, "
	for _, c := range []struct{ name, old, new, told string }{
		{"a version changes", "closed, version: 1", "closed, version: 2", `event "Closed" of doors.v1: "closed version 1" is no type of an event any more`},
		{"a version goes", "version: 1, ", "", `"closed version 1" is no type of an event any more`},
		{"a version comes", "[opened, unlocked],", "[opened, unlocked], version: 3,", `"opened", "unlocked" is no type of an event any more`},
		{"a version is new", "Closed: {type: closed, ", locked, ""},
		{"event_version moves", "event_version: {header: version}", "event_version: {header: v}", `topic doors.v1: event_version is read at header v, and was at header version`},
		{"an encoding comes", "event_type:", "payload: {encoding: json_string}\n    event_type:", `topic doors.v1: payload.encoding is json_string, and was plain`},
		{"the type is ignored", "type: closed, version: 1", "type: shut, version: 1", `"closed version 1" is no type`},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": versioned})
			edit(t, "idemgen.yaml", c.old, c.new)
			if c.name == "the type is ignored" {
				edit(t, "idemgen.yaml", "    unhandled:", "    ignore: [closed]\n    unhandled:")
				c.told = ""
			}
			if c.name == "a version goes" { // and none is left
				edit(t, "idemgen.yaml", "[opened, unlocked],", "[opened, unlocked], version: 9,")
				edit(t, "idemgen.yaml", "      Gone:", "      Still: {type: [opened, unlocked], handle: true}\n      Gone:")
			}
			out, found := unreadable(t, versioned)
			if c.told == "" && found > 0 || c.told != "" && (found != 1 || !strings.Contains(out, c.told)) {
				t.Errorf("want %q, got\n%s", c.told, out)
			}
		})
	}
}

// Where the type alone tells the event, it does not matter which versions there were.
func TestVersionsThatTellNothingAnyMoreAreNoChange(t *testing.T) {
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: {header: type}\n    event_version: {header: version}", "type: closed,", "type: closed, version: 1,").Replace(twoEvents)
	module(t, map[string]string{"idemgen.yaml": twoEvents})
	if out, found := unreadable(t, versioned); found != 0 {
		t.Error(out)
	}
}
