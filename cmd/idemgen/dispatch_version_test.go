package main

import (
	"strings"
	"testing"
)

// What holds of types holds of versions: a change after which records of yesterday are of no event
// is warned of.
func TestChangesOfVersionsThatLeaveOlderRecordsUnhandledAreWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: {header: type}\n    event_version: {header: version}", "type: closed,", "type: closed, version: 1,").Replace(twoEvents)
	const locked = "Locked: {type: closed, version: 2, handle: true}\n      Closed: {type: closed, "
	for _, c := range []struct{ name, old, new, warning string }{
		{"a version changes", "closed, version: 1", "closed, version: 2", `event "Closed" from before this change become dead letters: "closed version 1" is no type of an event any more`},
		{"a version goes", "version: 1, ", "", `"closed version 1" is no type of an event any more`},
		{"a version comes", "[opened, unlocked],", "[opened, unlocked], version: 3,", `"opened", "unlocked" is no type of an event any more`},
		{"a version is new", "Closed: {type: closed, ", locked, ""},
		{"event_version moves", "event_version: {header: version}", "event_version: {header: v}", `14:5: W910: records of topic "doors.v1" from before this change become dead letters: event_version is read at header v, and was at header version`},
		{"an encoding comes", "event_type:", "payload: {encoding: json_string}\n    event_type:", `13:15: W910: records of topic "doors.v1" from before this change become dead letters: payload.encoding is json_string, and was plain`},
		{"the type is ignored", "type: closed, version: 1", "type: shut, version: 1", `"closed version 1" is no type`},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": versioned})
			must(t, "generate")
			edit(t, "idemgen.yaml", c.old, c.new)
			if c.name == "the type is ignored" {
				edit(t, "idemgen.yaml", "    unhandled:", "    ignore: [closed]\n    unhandled:")
				c.warning = ""
			}
			if c.name == "a version goes" { // and none is left
				edit(t, "idemgen.yaml", "[opened, unlocked],", "[opened, unlocked], version: 9,")
				edit(t, "idemgen.yaml", "      Gone:", "      Still: {type: [opened, unlocked], handle: true}\n      Gone:")
			}
			code, _, stderr := run(t, "generate")
			found := strings.Count(stderr, ": W910: ")
			if code != done || c.warning == "" && found > 0 || c.warning != "" && (found != 1 || !strings.Contains(stderr, c.warning)) {
				t.Errorf("exit code %d, want %q, got\n%s", code, c.warning, stderr)
			}
			if code, _, stderr := run(t, "generate"); code != done || strings.Contains(stderr, "W910") {
				t.Errorf("the second time: exit code %d\n%s", code, stderr)
			}
		})
	}
}

// Where the type alone tells the event, it does not matter which versions there were.
func TestVersionsThatTellNothingAnyMoreAreNoChange(t *testing.T) {
	versioned := strings.NewReplacer("event_type: {header: type}", "event_type: {header: type}\n    event_version: {header: version}", "type: closed,", "type: closed, version: 1,").Replace(twoEvents)
	module(t, map[string]string{"idemgen.yaml": versioned})
	must(t, "generate")
	write(t, "idemgen.yaml", twoEvents)
	if code, _, stderr := run(t, "generate"); code != done || strings.Contains(stderr, "W910") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
