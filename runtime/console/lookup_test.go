package console_test

import (
	"html"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A search needs a record or a key, and says which it lacks.
func TestASearchSaysWhatItLacks(t *testing.T) {
	s := troubled(t)
	for _, c := range []struct{ page, want string }{
		{"find", "Find"},
		{"find?topic=orders.v1", "give the record as PARTITION:OFFSET, or the parts of its key"},
		{"find?topic=orders.v1&at=3", "write the record as PARTITION:OFFSET, such as 3:4711"},
		{"find?topic=orders.v1&at=x:3", "write the record as PARTITION:OFFSET"},
		{"find?topic=orders.v1&at=0:x", "write the record as PARTITION:OFFSET"},
		{"find?topic=orders.v1&at=-1:3", "write the record as PARTITION:OFFSET"},
		{"find?topic=orders.v1&at=0:-3", "write the record as PARTITION:OFFSET"},
		{"find?topic=payments.v1&consumer=projector&key=abc", "write each part of the key as NAME=VALUE, on a line of its own"},
		{"find?topic=orders.v1&consumer=audit&key=a%3Db", "the spec of audit, which defines its keys, is not known here"},
		{"find?topic=none&at=0:3", "none"},
		{"find?topic=orders.v1&at=0:9&key=key%3Da", "idemgen find orders.v1 --offset 0:9 --key 'key=a'"},
		{"find?topic=orders.v1&at=0:3", "decode"},
	} {
		if page := html.UnescapeString(s.get(c.page)); !strings.Contains(page, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.page, c.want, page)
		}
	}
}

// The history has the changes of owners where they are asked for, and the file always.
func TestHistoryHasTheOwners(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `INSERT INTO idem_ledger SELECT stream, 1, gen_random_uuid(), next, next, 'f', 'w', -1, 3, 4, 0, '2026-01-02T03:04:05Z', NULL, 'process SEVEN'
FROM idem_ledger WHERE stream = (SELECT stream FROM idem_stream WHERE partition = 1)`)
	for page, want := range map[string]bool{"history": false, "history?owners=1": true, "history.csv": true, "history.csv?consumer=nobody": false} {
		if is := strings.Contains(s.get(page), "process SEVEN"); is != want {
			t.Errorf("%s has the new owner: %v", page, is)
		}
	}
	if file := s.get("history.csv"); !strings.Contains(file, "2026-01-02T03:04:05Z,process SEVEN,fence,projector,orders.v1,1,10,10,0,\n") {
		t.Errorf("the file is\n%s", file)
	}
}
