package main

import (
	"strings"
	"testing"
)

// twoEvents is a service that tells its events by a header, and one of them by having no value.
const twoEvents = `version: 1
consumer: door-keeper
package: doors
limits: {max_payload: 512KiB}

tables:
  doors: {primary_key: [door], columns: {door: text, open: boolean}}

topics:
  doors.v1:
    record_key: {door: string}
    assume: {ordered_by: record_key}
    event_type: {header: type}
    idempotency_key: {source: {header: request}, window: 8d}
    unhandled: {unknown_type: dead_letter}
    events:
      Opened: {type: [opened, unlocked], fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: true}}}], handle: true}
      Closed: {type: closed, fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: false}}}], handle: true}
      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}
`

// A change after which records of yesterday are of no event, too large, or without a key is
// warned of where it is made; one that leaves them what they were is not.
func TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	for _, c := range []struct {
		name     string
		edits    [][2]string
		warnings []string
	}{
		{"event_type moves", [][2]string{{"event_type: {header: type}", "event_type: {path: kind}"}},
			[]string{`13:5: W910: records of topic "doors.v1" from before this change become dead letters: event_type is read at $.kind, and was at header type`}},
		{"a text is gone", [][2]string{{"[opened, unlocked]", "[opened]"}},
			[]string{`17:7: W910: records of event "Opened" from before this change become dead letters: "unlocked" is no type of an event any more`}},
		{"a text moves to another event", [][2]string{{"[opened, unlocked]", "opened"}, {"type: closed", "type: [closed, unlocked]"}}, nil},
		{"a text moves to an event that needs more", [][2]string{{"[opened, unlocked]", "opened"}, {"type: closed, fields: {", "type: [closed, unlocked], fields: {n: {type: int32, header: n}, "}},
			[]string{`field "n" is new and required`}},
		{"a text is ignored", [][2]string{{"[opened, unlocked]", "opened"}, {"unhandled:", "ignore: [unlocked]\n    unhandled:"}}, nil},
		{"a text is new", [][2]string{{"type: closed", "type: [closed, locked]"}}, nil},
		{"unknown types are skipped", [][2]string{{"[opened, unlocked]", "opened"}, {"{unknown_type: dead_letter}", "{unknown_type: skip}"}}, nil},
		{"unknown types halt", [][2]string{{"[opened, unlocked]", "opened"}, {"{unknown_type: dead_letter}", "{unknown_type: stop}"}},
			[]string{`records of event "Opened" from before this change halt their partition`}},
		{"an event is gone", [][2]string{{"      Closed: {type: closed, fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: false}}}], handle: true}\n", ""}},
			[]string{`10:3: W910: records of event "Closed" from before this change become dead letters: "closed" is no type of an event any more`}},
		{"an event is renamed", [][2]string{{"Closed:", "Shut:"}}, nil},
		{"an event is renamed and needs more", [][2]string{{"Closed: {type: closed, fields: {", "Shut: {type: closed, fields: {n: {type: int32, header: n}, "}},
			[]string{`records of event "Shut" from before this change become dead letters: field "n" is new and required`}},
		{"the tombstone is gone", [][2]string{{"      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}\n", ""}},
			[]string{`records of event "Gone" from before this change become dead letters: no event is the tombstone any more`}},
		{"tombstones are skipped", [][2]string{{"      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}\n", ""}, {"{unknown_type:", "{tombstone: skip, unknown_type:"}}, nil},
		{"max_payload shrinks", [][2]string{{"512KiB", "256KiB"}},
			[]string{`4:1: W910: records from before this change become dead letters: max_payload is 262144, and was 524288`}},
		{"max_payload grows", [][2]string{{"512KiB", "2MiB"}}, nil},
		{"max_depth shrinks", [][2]string{{"{max_payload", "{max_depth: 8, max_payload"}}, []string{`max_depth is 8, and was 64`}},
		{"the key moves to another header", [][2]string{{"{header: request}", "{header: id}\n      also: [{header: request}]"}, {"{source", "\n      source"}, {", window: 8d}", "\n      window: 8d"}},
			[]string{`14:5: W910: records of event "Opened" from before this change become dead letters: the key needs header "id", which older records may lack`,
				`records of event "Closed" from before this change`}},
		{"the header may be missing", [][2]string{{"{header: request}, window: 8d}", "{header: id}, also: [{header: request}], missing: offset, window: 8d}"}, {"ordered_by: record_key", "ordered_by: record_key, unique_records: true"}}, nil},
		{"the key moves to a header that every record has", [][2]string{{"{header: request}, window: 8d}", "{header: by}, also: [{header: request}], window: 8d}"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": twoEvents})
			must(t, "generate")
			for _, e := range c.edits {
				edit(t, "idemgen.yaml", e[0], e[1])
			}
			code, _, stderr := run(t, "generate")
			if found := strings.Count(stderr, ": W910: "); code != done || found != len(c.warnings) {
				t.Errorf("exit code %d, %d warnings, want %d\n%s", code, found, len(c.warnings), stderr)
			}
			for _, want := range c.warnings {
				if !strings.Contains(stderr, want) {
					t.Errorf("want %s, got\n%s", want, stderr)
				}
			}
			if code, _, stderr := run(t, "generate"); code != done || strings.Contains(stderr, "W910") {
				t.Errorf("the second time: exit code %d\n%s", code, stderr)
			}
		})
	}
}

// With one event there is nothing to tell; records of that time have no type.
func TestNewEventTypeIsWarnedOf(t *testing.T) {
	one := strings.NewReplacer("    event_type: {header: type}\n", "", "    unhandled: {unknown_type: dead_letter}\n", "", "type: [opened, unlocked], ", "").Replace(twoEvents)
	start, closed := strings.Index(one, "      Closed:"), strings.Index(one, "      Gone:")
	module(t, map[string]string{"idemgen.yaml": one[:start] + one[closed:]})
	must(t, "generate")
	write(t, "idemgen.yaml", twoEvents)
	want := `records of topic "doors.v1" from before this change become dead letters: event_type is read at header type, and was not read`
	if code, _, stderr := run(t, "generate"); code != done || strings.Count(stderr, ": W910: ") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, want %s, got\n%s", code, want, stderr)
	}
	write(t, "idemgen.yaml", one[:start]+one[closed:])
	if code, _, stderr := run(t, "generate"); code != done || strings.Contains(stderr, "W910") {
		t.Errorf("back to one event, which takes them all: exit code %d\n%s", code, stderr)
	}
}
