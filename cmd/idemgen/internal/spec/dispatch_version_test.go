package spec

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
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: [{header: type}, {header: version}]", "type: closed,", "type: closed/1,").Replace(twoEvents)
	const locked = "Locked: {type: closed/2, handle: true}\n      Closed: {type: closed/1,"
	for _, c := range []struct{ name, old, new, told string }{
		{"a version changes", "type: closed/1", "type: closed/2", `event "Closed" of doors.v1: "closed/1" is no longer the type of an event`},
		{"a version goes", "type: closed/1", "type: closed", `"closed/1" is no longer the type of an event`},
		{"a version comes", "[opened, unlocked],", "[opened/3, unlocked],", `"opened" is no longer the type of an event`},
		{"a version is new", "Closed: {type: closed/1,", locked, ""},
		{"its place moves", "{header: version}", "{header: v}", `topic doors.v1: event_type is now read at header type / header v; it was at header type / header version`},
		{"it has no place", "[{header: type}, {header: version}]", "{header: type}", `"closed/1" is no longer the type`},
		{"an encoding comes", "event_type:", "payload: {encoding: json_string}\n    event_type:", `topic doors.v1: payload.encoding is now json_string; it was plain`},
		{"the type is ignored", "type: closed/1", "type: shut/1", `"closed/1" is no longer the type`},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": versioned})
			edit(t, "idemgen.yaml", c.old, c.new)
			if c.name == "the type is ignored" {
				edit(t, "idemgen.yaml", "    event_type:", "    ignore: [closed/1]\n    event_type:")
				c.told = ""
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
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: [{header: type}, {header: version}]", "type: closed,", "type: closed/1,").Replace(twoEvents)
	module(t, map[string]string{"idemgen.yaml": twoEvents})
	if out, found := unreadable(t, versioned); found != 0 {
		t.Error(out)
	}
}
