package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What follows from each kind of fact: how far writes are kept apart and why, what is warned of,
// which tables run triggers at commit, and the first reason not to start.
func TestConsequencesOfFacts(t *testing.T) {
	tables := []wire.Table{
		{Name: "p", Unique: [][]string{{"a", "b"}, {"c"}}, Columns: []wire.Column{{Name: "note", Nullable: true}, {Name: "a"}}, Rights: []string{"INSERT", "UPDATE"},
			References: []wire.Reference{{Columns: []string{"x", "y"}, Table: "o", OnDelete: "cascade"}, {Columns: []string{"z"}, Table: "o"}}},
		{Name: "log", Rights: []string{"INSERT"}}, {Name: "gone", Rights: []string{"INSERT", "DELETE"}}, {Name: "idle"},
	}
	of := func(k kind, detail string, columns ...string) fact {
		return fact{table: "p", kind: k, detail: detail, columns: columns}
	}
	key := func(action string, columns ...string) fact {
		f := of(reference, "k", columns...)
		f.target, f.action = "o", action
		return f
	}
	stored := func(how string) fact { return fact{table: "p", kind: storage, detail: how, target: "s.p"} }
	at := func(table string, f fact) fact { f.table = table; return f }
	const foreign = "p records: foreign key k is not in the spec in this form"
	for _, c := range []struct {
		f    fact
		want string
	}{
		{of(trigger, "t"), "p records: trigger t"}, {of(rule, "r"), "p records: rule r"}, {of(relation, "v"), "p records: it is a view"},
		{of(policy, ""), "p records: row level security, warned"},
		{of(check, "c"), "p rows: check constraint c"}, {of(computed, "i"), "p rows: i is computed"}, {of(restricted, "d"), "p rows: column d has a domain or composite type"},
		{of(notNull, "note"), "p rows: column note is NOT NULL, but nullable in the spec"}, {of(notNull, "a"), ""}, {of(notNull, "other"), ""},
		{of(unique, "u", "b", "a"), ""}, {of(unique, "u", "c"), ""}, {of(unique, "u", "a"), "p table: unique index or exclusion u is not in the spec"}, {of(unique, "u"), "p table: unique index or exclusion u is not in the spec"},
		{at("log", of(unique, "u", "a")), ""}, {at("gone", of(unique, "u", "a")), "gone table: unique index or exclusion u is not in the spec"}, {at("idle", of(unique, "u", "a")), "idle table: unique index or exclusion u is not in the spec"},
		{of(loose, "type numeric", "b"), "p table: key column b has type numeric"}, {of(loose, "collation l", "y"), "p table: key column y has collation l"}, {of(loose, "type numeric", "note"), ""},
		{key("ca", "y", "x"), ""}, {key("ra", "z"), ""}, {key("aa", "z"), ""}, {key("na", "z"), foreign}, {key("ca", "z"), foreign}, {key("cc", "x", "y"), foreign}, {key("ca", "x"), foreign}, {key("rc", "z"), foreign},
		{of(reference, "k", "z"), ""},
		{fact{table: "p", kind: reference, detail: "k", columns: []string{"z"}, target: "p", action: "ra"}, foreign},
		{of(deferred, "d"), "warned"}, {fact{table: "p", kind: deferred, detail: "d", action: "trigger"}, "at commit, warned"},
		{stored("unlogged"), pgtable.Stored(pgtable.Part{SQL: "s.p", Kind: "unlogged"}).Text},
		{fact{kind: citus}, ""},
	} {
		found := decide(tables, []fact{c.f})
		var got []string
		if found.Refused != nil {
			got = append(got, found.Refused.reason)
		}
		for table := range found.AtCommit {
			if got = append(got, "at commit"); table != c.f.table {
				t.Errorf("%+v: of table %s", c.f, table)
			}
		}
		for _, r := range found.Why {
			if got = append(got, fmt.Sprintf("%s %s: %s", r.Table, r.Apart, r.Fact)); found.Apart[r.Table] != r.Apart {
				t.Errorf("%+v: %v", c.f, found.Apart)
			}
		}
		for _, r := range found.Warnings {
			if got = append(got, "warned"); r.Table != "p" || r.Fact != warning(c.f) {
				t.Errorf("%+v: %+v", c.f, r)
			}
		}
		if is := strings.Join(got, ", "); is != c.want || len(found.Apart) != len(found.Why) {
			t.Errorf("%+v: %q, want %q", c.f, is, c.want)
		}
	}
	found := decide(tables, []fact{of(trigger, "t"), of(check, "c"), of(unique, "u"), stored("unlogged"), stored("temporary"), at("gone", of(check, "c")), at("gone", of(unique, "u"))})
	if found.Apart["p"] != wire.ApartRecords || found.Apart["gone"] != max(wire.ApartRows, wire.ApartTable) || !strings.Contains(found.Refused.Error(), "table s.p is unlogged: ") {
		t.Errorf("of many: %v, %v", found.Apart, found.Refused)
	}
}

// A list of names is an array of Postgres, whatever the names are.
func TestNamesAreAnArray(t *testing.T) {
	for want, names := range map[string][]string{"{}": nil, `{"a"}`: {"a"}, `{"a","b c","d\"\\,e"}`: {"a", "b c", `d"\,e`}} {
		if got := array(names); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A table is compared as one that is written by upserts if any statement of a topic is one, under
// its name in statements.
func TestWhatIsWantedOfATable(t *testing.T) {
	columns := []wire.Column{{Name: "a"}}
	for _, c := range []struct {
		table      wire.Table
		statements []string
		want       string
	}{
		{wire.Table{Name: "p"}, []string{"INSERT INTO p (a) VALUES ($1) ON CONFLICT DO NOTHING"}, `"p" true`},
		{wire.Table{Name: "p", SQL: `s."P"`}, []string{"DELETE FROM x", `INSERT INTO s."P" (a) VALUES ($1) ON CONFLICT DO NOTHING`}, `s."P" true`},
		{wire.Table{Name: "p"}, []string{"INSERT INTO p (a) VALUES ($1)", "INSERT INTO pp (a) VALUES ($1) ON CONFLICT DO NOTHING"}, `"p" false`},
		{wire.Table{Name: "p"}, nil, `"p" false`},
	} {
		c.table.Columns, c.table.Rights, c.table.Unique = columns, []string{"INSERT"}, [][]string{{"a"}}
		w := want(&c.table, c.statements)
		if got := fmt.Sprint(w.SQL, " ", w.Upserts); got != c.want || len(w.Columns) != 1 || w.Columns[0].Name != "a" || len(w.Rights) != 1 || len(w.Unique) != 1 {
			t.Errorf("%+v: %s %+v", c.table, got, w)
		}
	}
}
