package idemtest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made writes a case and what idemgen makes of it.
func made(t *testing.T, dir, name, text, log, expected string) {
	t.Helper()
	head := fmt.Sprintf("{\"comment\":\"\",\"sha256\":\"%x\"}\n", sha256.Sum256([]byte(text)))
	for file, content := range map[string]string{name + ".yaml": text, "idem_" + name + "_log.jsonl": head + log, "idem_" + name + "_expected.txt": expected} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A case that was edited, written or removed and not generated again is never green.
func TestACaseThatWasNotGeneratedAgainFails(t *testing.T) {
	dir := t.TempDir()
	c := Service{Cases: dir}
	for name, change := range map[string]func(path string) error{
		"changed": func(path string) error { return os.WriteFile(path, []byte("then: {item: 1}\n"), 0o600) },
		"gone":    os.Remove,
		"new":     func(path string) error { return os.Remove(filepath.Join(dir, "idem_new_log.jsonl")) },
		"crlf":    func(path string) error { return os.WriteFile(path, []byte("then: {item: 2}\r\n"), 0o600) },
	} {
		made(t, dir, name, "then: {item: 2}\n", "", "table item 2\n")
		if _, err := c.caseRunner(name); err != nil {
			t.Errorf("%s, before: %v", name, err)
		}
		if err := change(filepath.Join(dir, name+".yaml")); err != nil {
			t.Fatal(err)
		}
		_, err := c.caseRunner(name)
		if name == "crlf" && err != nil || name != "crlf" && (err == nil || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), ": run idemgen generate")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := c.caseNames()
	if err != nil || !slices.Equal(names, []string{"changed", "crlf", "gone", "new"}) {
		t.Errorf("%q %v", names, err)
	}
}

// Before the first case there is nothing to run.
func TestWithoutCasesNothingIsRun(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "cases")} {
		skipped := false
		t.Run("none", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Service{Cases: dir}.RunCases(t)
		})
		if !skipped {
			t.Error("not skipped")
		}
	}
}

// A case of the small service, whose third record is refused.
func smallCase(t *testing.T, f flaw, expected string) *runner {
	t.Helper()
	run := small(t, f)
	dir := t.TempDir()
	made(t, dir, "sums", "", "", expected)
	r, err := Service{Cases: dir, Migrations: run.Migrations, Tables: run.Tables}.caseRunner("sums")
	if err != nil {
		t.Fatal(err)
	}
	r.log, r.start = run.log, run.start
	r.scenarios = func() []scenario { return ofACase(len(r.log), map[string]bool{"after handler": true}) }
	return r
}

func TestACaseHoldsTheTablesAgainstWhatItSays(t *testing.T) {
	const right = "table item\nid=1  v=3\nid=2  v=8\nid=3  v=4\ntable total\nsum=27\ndead letters database 1\n"
	for name, c := range map[string]struct {
		flaw               flaw
		old, new, scenario string
		says               []string
	}{
		"right":              {flaw{}, "", "", "once", nil},
		"counted":            {flaw{}, "table item\nid=1  v=3\nid=2  v=8\nid=3  v=4\n", "table item 3\n", "once", nil},
		"wrong count":        {flaw{}, "table item\nid=1  v=3\nid=2  v=8\nid=3  v=4\n", "table item 2\n", "once", []string{"item: want 2 rows, got 3"}},
		"wrong value":        {flaw{}, "v=8", "v=7", "once", []string{"item id=2: v: want 7, got 8"}},
		"too few rows":       {flaw{}, "id=2  v=8\n", "", "once", []string{"item id=2: want no such row, got id=2  v=8"}},
		"too many rows":      {flaw{}, "id=2", "id=4  v=1\nid=2", "once", []string{"item id=4: want this row, got none: id=4  v=1"}},
		"without its key":    {flaw{}, "sum=27", "sum=28", "once", []string{"total: got  sum=27", "total: want sum=28"}},
		"calls":              {flaw{}, "database 1\n", "database 1\ncalls Put 1\n", "once", []string{"calls of Put: want 1, got 0"}},
		"no dead letter":     {flaw{}, "dead letters database 1\n", "", "once", []string{"database: want 0, got 1", "event 3 is a dead letter: database"}},
		"other dead letter":  {flaw{}, "database 1", "handler 2", "once", []string{"handler: want 2, got 0", "database: want 0, got 1"}},
		"not written":        {flaw{unwritten: true}, "", "", "once", []string{"likely cause: the Go code returns idem.ErrNotImplemented"}},
		"crash":              {flaw{ownTransaction: true}, "", "", "batches of 4, crash at step after handler", []string{"total: want sum=27"}},
		"batches":            {flaw{noWaves: true}, "", "", "batches of 7", []string{"item id=1"}},
		"repeated in a row":  {flaw{noClaim: true}, "", "", "every event repeated in its batch", []string{"total: got  sum="}},
		"delivered again":    {flaw{}, "", "", "redelivered", nil},
		"repeated, no claim": {flaw{noClaim: true}, "", "", "every event repeated later", []string{"the runtime says"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := smallCase(t, c.flaw, strings.Replace(right, c.old, c.new, 1))
			if c.scenario != "once" { // what the first one finds out
				r.want.dead = map[int]expectedDead{2: {class: "database"}}
			}
			got := failures(t, r, c.scenario)
			for _, want := range c.says {
				if !strings.Contains(got, want) {
					t.Errorf("the scenario says\n%s\nwant %q in it", got, want)
				}
			}
			if len(c.says) == 0 && got != "" {
				t.Error(got)
			}
		})
	}
}

// Dead letters are told in the order of the events, whatever their reasons.
func TestDeadLettersOfACaseAreInOrder(t *testing.T) {
	r := smallCase(t, flaw{}, "table item 3\n")
	r.log[4].message.Value = []byte("{}")
	got := failures(t, r, "once")
	if _, after, found := strings.Cut(got, "\nevent 3 is a dead letter: database"); !found || !strings.HasPrefix(strings.SplitN(after, "\n", 3)[1], "event 5 is a dead letter: key") {
		t.Error(got)
	}
}

// A log that was made from the spec knows nothing of the CHECK constraints of a migration by hand.
// Whoever writes a case does.
func TestChecksHoldForCasesOnly(t *testing.T) {
	for _, ofCase := range []bool{false, true} {
		r := small(t, flaw{})
		r.ofCase = ofCase
		sql := "ALTER TABLE item ADD CONSTRAINT small CHECK (v < 8), ADD CHECK (id > 0 AND v IS NOT NULL); ALTER TABLE total ADD CHECK (sum < 20);"
		if err := os.WriteFile(filepath.Join(r.Migrations, "0002.sql"), []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := failures(t, r, "one by one"); (got != "") != ofCase {
			t.Errorf("of a case: %v: %s", ofCase, got)
		}
	}
}
