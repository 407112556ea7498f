package spec

import (
	"strings"
	"testing"
)

// unreadable is what plan says of a change of the spec, and how many lines of it are about records
// that are still to be read.
func unreadable(t *testing.T, before string) (out string, lines int) {
	t.Helper()
	write(t, "old.yaml", before)
	code, out, stderr := run(t, "plan", "old.yaml", "idemgen.yaml")
	if code == trouble {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	return out, strings.Count(out, "**records still in the topic")
}

// A change after which records of yesterday become dead letters is told, with the way out; one
// that reads them as before is not.
func TestChangesThatRefuseOlderRecordsAreWarnedOf(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	base := strings.Replace(spec, "total: decimal}", "total: decimal, note: optional string, channel: Channel, lines: list(Line), n: {type: int32, path: deep.n}, tenant: {type: string, header: tenant}}", 1)
	base = strings.Replace(base, "set: {status: {value: placed}}", "set: {status: {value: placed}}\n        handle: true", 1)
	base = strings.Replace(base, "tables:\n", "types:\n  Channel: {enum: [web, shop]}\n  Line: {fields: {sku: string, pieces: optional int32}}\ntables:\n", 1)
	for _, c := range []struct{ old, new, told, hint string }{
		{"note: optional string", "note: string", `field "note" is now required; it was not before`, "until the older records have been read"},
		{"note: optional string", "note: {type: string, default: none}", `field "note" may no longer be null`, "keep it optional"},
		{"note: optional string", "note: optional string, weight: int32", `field "weight" is new and required`, "optional or with a default"},
		{"note: optional string", "note: optional string, weight: {type: int32, default: 1}", "", ""},
		{"note: optional string", "note: optional string, at: {type: timestamp, record: timestamp}", "", ""},
		{"note: optional string, ", "", "", ""},
		{"path: deep.n", "path: deep.count", `field "n" is now read at $.deep.count; it was at $.deep.n`, "declare the new place as a field of its own beside this one"},
		{"n: {type: int32, path: deep.n}", "count: {type: int32, path: deep.n}", "", ""},
		{"n: {type: int32, path: deep.n}", "n: {type: int64, path: deep.n}", "", ""},
		{"n: {type: int32, path: deep.n}", "n: {type: uuid, path: deep.n}", `field "n" is now uuid; it was int32`, "json"},
		{"header: tenant", "header: Tenant", `field "tenant" is now read at header Tenant; it was at header tenant`, "both optional"},
		{"[web, shop]", "[web]", `"shop" is no longer a value of "Channel"`, "keep the value"},
		{"[web, shop]", "[web, shop, phone]", "", ""},
		{"channel: Channel", "channel: string", "", ""},
		{"pieces: optional int32", "pieces: int32", `field "pieces" is now required; it was not before`, "optional"},
		{"sku: string", "sku: {type: string, path: article}", `field "sku" is now read at $.article; it was at $.sku`, "declare the new place as a field of its own beside this one"},
		{"lines: list(Line)", "lines: json", "", ""},
	} {
		module(t, map[string]string{"idemgen.yaml": base})
		edit(t, "idemgen.yaml", c.old, c.new)
		if strings.Contains(c.new, "channel: string") {
			edit(t, "idemgen.yaml", "  Channel: {enum: [web, shop]}\n", "")
		}
		if strings.Contains(c.new, "lines: json") {
			edit(t, "idemgen.yaml", "  Line: {fields: {sku: string, pieces: optional int32}}\n", "")
		}
		out, found := unreadable(t, base)
		if c.told == "" && found > 0 || c.told != "" && (found != 1 || !strings.Contains(out, `event "OrderPlaced"`) || !strings.Contains(out, c.told) || !strings.Contains(out, c.hint)) {
			t.Errorf("%s for %s: want %q, got\n%s", c.new, c.old, c.told, out)
		}
	}
}

// Where the record key is what keeps copies in one partition it is read, also by an event that
// has no use for it: a record without one is a dead letter. And other copies are known.
func TestPromiseThatCopiesKeepTheirRecordKeyIsAChange(t *testing.T) {
	const before, after = "[ordered]", "[ordered, copies_keep_record_key]"
	module(t, map[string]string{"idemgen.yaml": `version: 1
consumer: reader
package: readings
tables:
  readings: {primary_key: [id], columns: {id: uuid}}
topics:
  readings.v1:
    record_key: {site: string}
    assume: ` + before + `
    idempotency_key: {source: {header: event-id}, window: 8d}
    events:
      Read: {fields: {id: uuid}, write: [{insert: readings}]}
`})
	old := read(t, "idemgen.yaml")
	edit(t, "idemgen.yaml", before, after)
	edit(t, "idemgen.yaml", "window: 8d}", "window: 8d, copies: same_partition}")
	out, _ := unreadable(t, old)
	for _, want := range []string{
		`the identity of event "Read" changed`, "its copies was anywhere and is same_partition",
		`event "Read" of readings.v1: part "site" of the record key is now read; it was not before`,
		"make sure that the older records have that record key",
	} {
		if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("want %s, got\n%s", want, out)
		}
	}
	edit(t, "idemgen.yaml", after, before)
	if code, _, stderr := run(t, "generate"); code == done || !strings.Contains(stderr, "E411") {
		t.Errorf("without the promise: exit code %d\n%s", code, stderr)
	}
}
