package gocode_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

const reading = `version: 1
consumer: telemetry
package: telemetry
tables:
  device_state:
    primary_key: [device_id]
    columns:
      device_id: text
      seq: bigint
      firmware: text
topics:
  readings:
    idempotency_key: {source: {record: offset}}
    events:
      Reading:
        description: Reading is one report of a device.
        fields:
          device_id: string
          seq: int64
          firmware: string
        write:
          - upsert: device_state
            if_newer: seq
`

// TestDiffOfAField: a field appended to an event, with its column, changes only lines that
// a reviewer must see; nothing is renumbered.
func TestDiffOfAField(t *testing.T) {
	more := strings.Replace(reading, "firmware: text\n", "firmware: text\n      signal_strength: integer\n", 1)
	more = strings.Replace(more, "firmware: string\n", "firmware: string\n          signal_strength: int32\n", 1)
	const path = "idem_readings_gen.go"
	got := changed(file(t, render(t, load(t, reading)), path), file(t, render(t, load(t, more)), path))
	const want = `+	SignalStrength int32
-	var seen struct{ DeviceID, Seq, Firmware bool }
+	var seen struct{ DeviceID, Seq, Firmware, SignalStrength bool }
+		case "signal_strength":
+			s.Once(&seen.SignalStrength)
+			e.SignalStrength = s.Int32()
+	s.Require(seen.SignalStrength, "signal_strength")
+	r.Int4(e.SignalStrength)
-    firmware
+    firmware,
+    signal_strength
-    unnest($3::text[]) AS firmware
+    unnest($3::text[]) AS firmware,
+    unnest($4::integer[]) AS signal_strength
-    firmware = excluded.firmware
+    firmware = excluded.firmware,
+    signal_strength = excluded.signal_strength
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestDiffOfAnEvent: a new event in one topic leaves the files of other topics as they are.
func TestDiffOfAnEvent(t *testing.T) {
	const other = `  alarms:
    idempotency_key: {source: {record: offset}}
    assume: [unique]
    events:
      Alarm: {fields: {device_id: string}, handle: true}
`
	before, after := render(t, load(t, reading)), render(t, load(t, reading+other))
	for _, path := range []string{"idem_readings_gen.go"} {
		if d := changed(file(t, before, path), file(t, after, path)); d != "" {
			t.Errorf("%s\n%s", path, d)
		}
	}
	if d := changed(file(t, before, "idem_gen.go"), file(t, after, "idem_gen.go")); strings.Count(d, "\n") > 10 {
		t.Errorf("idem_gen.go\n%s", d)
	}
}

var aligned = regexp.MustCompile(`(\S) +`)

// changed lists the lines that a diff takes out, "-", and puts in, "+". What gofmt aligns anew is
// no difference.
func changed(a, b string) string {
	a, b = aligned.ReplaceAllString(a, "$1 "), aligned.ReplaceAllString(b, "$1 ")
	var out strings.Builder
	for i, line := range strings.SplitAfter(string(diff.Diff("a", []byte(a), "b", []byte(b))), "\n") {
		if i > 2 && line != "" && (line[0] == '-' || line[0] == '+') { // behind its three lines of heading
			out.WriteString(line)
		}
	}
	return out.String()
}
