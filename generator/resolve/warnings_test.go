package resolve

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/schema"
)

// TestWarnings: what is allowed but often regretted is said, and does not stop anything.
func TestWarnings(t *testing.T) {
	const spec = `version: 1
consumer: warned
package: warned
tables:
  parents: {primary_key: [id], columns: {id: uuid, email: text, day: date}, unique: [[email]]}
  children:
    primary_key: [id]
    columns: {id: uuid, parent: uuid, at: timestamptz}
    foreign_keys: [{columns: [parent], references: parents}]
topics:
  parents.v1:
    idempotency_key: {source: {header: key}, window: 1d}
    event_type: {header: type}
    unhandled: {unknown_type: skip}
    events:
      Parent:
        type: parent
        fields: {id: uuid, email: string, day: date}
        write:
          - {upsert: parents, if_newer: day}
  children.v1:
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Child:
        fields: {id: uuid, parent: uuid, at: epoch_s}
        write:
          - {upsert: children, if_newer: at}
`
	parsed, ds := schema.Load("warned.yaml", []byte(spec))
	service, more := Resolve(parsed)
	ds.Append(more)
	if service == nil || ds.Errors() != 0 {
		t.Fatalf("%d errors, service %v", ds.Errors(), service)
	}
	var got []string
	for _, d := range ds.Sorted() {
		got = append(got, d.Code+": "+d.Message)
	}
	want := []string{
		`W908: unknown_type: skip without an ignore list: a new type would be passed over unseen`,
		`W904: "parents" is also unique by [email]: a conflict there dead-letters the event`,
		`W901: if_newer: day: of two changes on one day only the first is applied`,
		`W905: a row of "children" may arrive before its parent in "parents", which topic "parents.v1" fills; it is then dead-lettered`,
		`W901: if_newer: at: of two changes in one second only the first is applied`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	quiet := strings.NewReplacer("unhandled: {unknown_type: skip}", "ignore: [other]\n    unhandled: {unknown_type: skip}", ", unique: [[email]]", "",
		"day: date", "day: timestamptz", "fields: {id: uuid, email: string, day: timestamptz}", "fields: {id: uuid, email: string, day: timestamp}",
		"at: epoch_s", "at: epoch_ms", "references: parents", "references: others", "tables:\n", "tables:\n  others: {primary_key: [id], columns: {id: uuid}}\n").Replace(spec)
	quiet = strings.Replace(quiet, "email: string, day: timestamptz", "email: string, day: timestamp", 1)
	if out := printed(t, "quiet.yaml", []byte(quiet)); out != "" {
		t.Errorf("a spec without these causes warns:\n%s", out)
	}
}
