package idemtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/cases"
)

// Before the first case there is nothing to run.
func TestWithoutCasesNothingIsRun(t *testing.T) {
	empty := t.TempDir()
	if err := os.MkdirAll(filepath.Join(empty, "testdata", "cases"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), empty} {
		skipped := false
		t.Run("none", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			Service{Spec: filepath.Join(dir, "idemgen.yaml")}.RunCases(t)
		})
		if !skipped {
			t.Error("not skipped")
		}
	}
}

// smallCase is a case of the small service, whose third record is refused. Edit changes what the
// case says.
func smallCase(t *testing.T, f flaw, edit func(*cases.Case)) *runner {
	t.Helper()
	says := cases.Case{
		Then: []cases.Table{
			{Name: "item", Columns: []string{"id", "v"}, Rows: [][]string{{"1", "3"}, {"2", "8"}, {"3", "4"}}, Count: 3},
			{Name: "total", Columns: []string{"sum"}, Rows: [][]string{{"27"}}, Count: 1},
		},
		DeadLetters: []syntax.ClassCount{{Class: "database", Count: 1}},
	}
	if edit != nil {
		edit(&says)
	}
	script := proof.Script{Case: says}
	r := small(t, f)
	r.want, r.ofCase, r.source = wanted(script), true, "the case"
	r.compareOnly(script)
	r.scenarios = func() []scenario { return ofACase(r.log, map[string]bool{"after handler": true}) }
	return r
}

func TestACaseHoldsTheTablesAgainstWhatItSays(t *testing.T) {
	items := func(rows ...[]string) func(*cases.Case) {
		return func(c *cases.Case) { c.Then[0].Rows, c.Then[0].Count = rows, len(rows) }
	}
	counted := func(n int) func(*cases.Case) {
		return func(c *cases.Case) { c.Then[0] = cases.Table{Name: "item", Count: n} }
	}
	for name, c := range map[string]struct {
		flaw     flaw
		edit     func(*cases.Case)
		scenario string
		says     []string
	}{
		"right":              {flaw{}, nil, "once", nil},
		"counted":            {flaw{}, counted(3), "once", nil},
		"wrong count":        {flaw{}, counted(2), "once", []string{"item: want 2 rows, got 3"}},
		"wrong value":        {flaw{}, items([]string{"1", "3"}, []string{"2", "7"}, []string{"3", "4"}), "once", []string{"item id=2: v: want 7, got 8"}},
		"too few rows":       {flaw{}, items([]string{"1", "3"}, []string{"3", "4"}), "once", []string{"item id=2: want no such row, got id=2  v=8"}},
		"too many rows":      {flaw{}, items([]string{"1", "3"}, []string{"4", "1"}, []string{"2", "8"}, []string{"3", "4"}), "once", []string{"item id=4: want this row, got none: id=4  v=1"}},
		"without its key":    {flaw{}, func(c *cases.Case) { c.Then[1].Rows = [][]string{{"28"}} }, "once", []string{"total: got  sum=27", "total: want sum=28"}},
		"calls":              {flaw{}, func(c *cases.Case) { c.Calls = []cases.Calls{{Event: "Put", Count: 1}} }, "once", []string{"calls of Put: want 1, got 0"}},
		"no dead letter":     {flaw{}, func(c *cases.Case) { c.DeadLetters = nil }, "once", []string{"database: want 0, got 1", "event 3 is a dead letter: database"}},
		"other dead letter":  {flaw{}, func(c *cases.Case) { c.DeadLetters = []syntax.ClassCount{{Class: "handler", Count: 2}} }, "once", []string{"handler: want 2, got 0", "database: want 0, got 1"}},
		"not written":        {flaw{unwritten: true}, nil, "once", []string{"likely cause: the Go code returns idem.ErrNotImplemented"}},
		"no outbox":          {flaw{sql: outboxSQL}, nil, "once", []string{"likely cause: no migration creates idem_outbox"}},
		"crash":              {flaw{ownTransaction: true}, nil, "batches of 4, crash at step after handler", []string{"total: want sum=27"}},
		"batches":            {flaw{noWaves: true}, nil, "batches of 7", []string{"item id=1"}},
		"repeated in a row":  {flaw{noClaim: true}, nil, "every event repeated in its batch", []string{"total: got  sum="}},
		"delivered again":    {flaw{}, nil, "redelivered", nil},
		"repeated, no claim": {flaw{noClaim: true}, nil, "every event repeated later", []string{"the runtime reports"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := smallCase(t, c.flaw, c.edit)
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
	r := smallCase(t, flaw{}, func(c *cases.Case) { c.Then, c.DeadLetters = []cases.Table{{Name: "item", Count: 3}}, nil })
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

// CompareCase compares what another program has left: its rows, and its dead letters by their
// classes.
func TestCompareCase(t *testing.T) {
	const dir = "../../examples/bank/"
	content, err := os.ReadFile(dir + "idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	external, err := os.ReadFile(dir + "testdata/idem_external.sql")
	if err != nil {
		t.Fatal(err)
	}
	s := Service{Spec: dir + "idemgen.yaml", Digest: proof.Files{}.Digest(content)}
	db := DB(t)
	Exec(t, db, string(external))
	Migrate(t, db, dir+"migrations")
	compared := func(without ...string) string {
		t.Helper()
		differences, err := s.CompareCase(t.Context(), db, dir+"testdata/cases/unknown_creditor.yaml", without...)
		if err != nil {
			t.Fatal(err)
		}
		return differences
	}
	Exec(t, db, `INSERT INTO core.account (account_id, iban, balance_cents) VALUES
		('3f0c2a51-7f0e-4a37-9a42-5f0c7d1e2b01', 'a', 9900), ('3f0c2a51-7f0e-4a37-9a42-5f0c7d1e2b02', 'b', 500);
		INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('c', 'transfers.v1', gen_random_uuid(), 0);
		INSERT INTO idem_dead_letter (stream, offs, seq, reason, state) SELECT stream, 1, 1, 'handler: negative', 'd' FROM idem_stream`)
	const letters = "handler: want 2, got 1\nevent 2 is a dead letter: handler: negative"
	want := "accounts account_id=3f0c2a51-7f0e-4a37-9a42-5f0c7d1e2b01: balance: want 10000, got 9900\n" + letters
	if got := compared(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := compared("accounts"); got != letters {
		t.Errorf("got\n%s\nwant\n%s", got, letters)
	}
	Exec(t, db, `UPDATE core.account SET balance_cents = 10000 WHERE iban = 'a';
		INSERT INTO idem_dead_letter (stream, offs, seq, reason, state) SELECT stream, 0, 1, 'handler: nobody', 'd' FROM idem_stream`)
	if got := compared(); got != "" {
		t.Errorf("it differs:\n%s", got)
	}
}
