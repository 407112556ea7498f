package gocode_test

import (
	"regexp"
	"strings"
	"testing"
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
	got := diff(file(t, render(t, load(t, reading)), path), file(t, render(t, load(t, more)), path))
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
    assume: {unique_records: true}
    events:
      Alarm: {fields: {device_id: string}, handle: true}
`
	before, after := render(t, load(t, reading)), render(t, load(t, reading+other))
	for _, path := range []string{"idem_readings_gen.go"} {
		if d := diff(file(t, before, path), file(t, after, path)); d != "" {
			t.Errorf("%s\n%s", path, d)
		}
	}
	if d := diff(file(t, before, "idem_gen.go"), file(t, after, "idem_gen.go")); strings.Count(d, "\n") > 10 {
		t.Errorf("idem_gen.go\n%s", d)
	}
}

var aligned = regexp.MustCompile(`(\S) +`)

// diff lists the lines of a longest common subsequence's complement: "-" and "+". What gofmt
// aligns anew is no difference.
func diff(a, b string) string {
	a, b = aligned.ReplaceAllString(a, "$1 "), aligned.ReplaceAllString(b, "$1 ")
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	lcs := make([][]int, len(x)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1]); x[i] == y[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && lcs[i+1][j] >= lcs[i][j+1]:
			out.WriteString("-" + x[i])
			i++
		default:
			out.WriteString("+" + y[j])
			j++
		}
	}
	return out.String()
}
