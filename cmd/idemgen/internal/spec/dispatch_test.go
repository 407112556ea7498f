package spec

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
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: request}, window: 8d}
    events:
      Opened: {type: [opened, unlocked], fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: true}}}], handle: true}
      Closed: {type: closed, fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: false}}}], handle: true}
      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}
`

// A change after which records of yesterday are of no event, too large, or without a key is
// told; one that leaves them what they were is not.
func TestChangesThatLeaveOlderRecordsUnhandledAreWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	for _, c := range []struct {
		name  string
		edits [][2]string
		told  []string
	}{
		{"event_type moves", [][2]string{{"event_type: {header: type}", "event_type: {path: kind}"}},
			[]string{`topic doors.v1: event_type is now read at $.kind; it was at header type`}},
		{"a text is gone", [][2]string{{"[opened, unlocked]", "[opened]"}},
			[]string{`event "Opened" of doors.v1: "unlocked" is no longer the type of an event`}},
		{"a text moves to another event", [][2]string{{"[opened, unlocked]", "opened"}, {"type: closed", "type: [closed, unlocked]"}}, nil},
		{"a text moves to an event that needs more", [][2]string{{"[opened, unlocked]", "opened"}, {"type: closed, fields: {", "type: [closed, unlocked], fields: {n: {type: int32, header: n}, "}},
			[]string{`field "n" is new and required`}},
		{"a text is ignored", [][2]string{{"[opened, unlocked]", "opened"}, {"event_type:", "ignore: [unlocked]\n    event_type:"}}, nil},
		{"a text is new", [][2]string{{"type: closed", "type: [closed, locked]"}}, nil},
		{"unknown types are skipped", [][2]string{{"[opened, unlocked]", "opened"}, {"    event_type:", "    skip: [unknown_type]\n    event_type:"}}, nil},
		{"unknown types halt", [][2]string{{"[opened, unlocked]", "opened"}, {"    event_type:", "    on_failure: {give_up: stop}\n    event_type:"}},
			[]string{`event "Opened" of doors.v1`}},
		{"an event is gone", [][2]string{{"      Closed: {type: closed, fields: {by: {type: string, header: by}}, write: [{upsert: doors, set: {open: {value: false}}}], handle: true}\n", ""}},
			[]string{`event "Closed" of doors.v1: "closed" is no longer the type of an event`}},
		{"an event is renamed", [][2]string{{"Closed:", "Shut:"}}, nil},
		{"an event is renamed and needs more", [][2]string{{"Closed: {type: closed, fields: {", "Shut: {type: closed, fields: {n: {type: int32, header: n}, "}},
			[]string{`event "Shut" of doors.v1: field "n" is new and required`}},
		{"the tombstone is gone", [][2]string{{"      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}\n", ""}},
			[]string{`event "Gone" of doors.v1: no event is the tombstone any longer`}},
		{"tombstones are skipped", [][2]string{{"      Gone: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: doors}]}\n", ""}, {"    event_type:", "    skip: [tombstone]\n    event_type:"}}, nil},
		{"max_payload shrinks", [][2]string{{"512KiB", "256KiB"}},
			[]string{`max_payload is now 262144; it was 524288`}},
		{"max_payload grows", [][2]string{{"512KiB", "2MiB"}}, nil},
		{"the key moves to another header", [][2]string{{"{header: request}", "{header: id}"}},
			[]string{`event "Opened" of doors.v1: the key needs header "id", which older records may lack`,
				`event "Closed" of doors.v1: the key needs header "id"`}},
		{"the key moves to a header that every record has", [][2]string{{"{header: request}", "{header: by}"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, map[string]string{"idemgen.yaml": twoEvents})
			for _, e := range c.edits {
				edit(t, "idemgen.yaml", e[0], e[1])
			}
			out, found := unreadable(t, twoEvents)
			if found != len(c.told) {
				t.Errorf("%d lines, want %d\n%s", found, len(c.told), out)
			}
			for _, want := range c.told {
				if !strings.Contains(out, want) {
					t.Errorf("want %s, got\n%s", want, out)
				}
			}
		})
	}
}

// With one event there is nothing to tell; records of that time have no type.
func TestNewEventTypeIsWarnedOf(t *testing.T) {
	one := strings.NewReplacer("    event_type: {header: type}\n", "", "type: [opened, unlocked], ", "").Replace(twoEvents)
	start, closed := strings.Index(one, "      Closed:"), strings.Index(one, "      Gone:")
	module(t, map[string]string{"idemgen.yaml": twoEvents})
	want := `topic doors.v1: event_type is now read at header type; it was not read before`
	if out, found := unreadable(t, one[:start]+one[closed:]); found != 1 || !strings.Contains(out, want) {
		t.Errorf("want %s, got\n%s", want, out)
	}
	write(t, "idemgen.yaml", one[:start]+one[closed:])
	if out, found := unreadable(t, twoEvents); found != 0 {
		t.Errorf("back to one event, which takes them all:\n%s", out)
	}
}
