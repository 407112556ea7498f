package model

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A type of a column is written as in the spec, and fits a key if equal values are sent equal.
func TestColumnTypes(t *testing.T) {
	for want, c := range map[string]struct {
		of   ColType
		fits bool
	}{
		"text": {ColType{Kind: ColText}, true}, "varchar(3)": {ColType{Kind: ColVarchar, Len: 3}, true}, "char(2)": {ColType{Kind: ColChar, Len: 2}, true},
		"numeric": {ColType{Kind: ColNumeric}, true}, "numeric(5,0)": {ColType{Kind: ColNumeric, Precision: 5}, true}, "numeric(5,2)": {ColType{Kind: ColNumeric, Precision: 5, Scale: 2}, true},
		"named(a.b)": {ColType{Kind: ColNamed, Name: "a.b"}, true}, "inet": {ColType{Kind: ColParsed, Name: "inet"}, false},
		"inet array": {ColType{Kind: ColArray, Elem: ColParsed, Name: "inet"}, false}, "date array": {ColType{Kind: ColArray, Elem: ColDate}, false},
		"boolean": {ColType{Kind: ColBoolean}, true}, "smallint": {ColType{Kind: ColSmallint}, true}, "integer": {ColType{Kind: ColInteger}, true}, "bigint": {ColType{Kind: ColBigint}, true},
		"real": {ColType{Kind: ColReal}, false}, "double precision": {ColType{Kind: ColDouble}, false}, "uuid": {ColType{Kind: ColUUID}, true},
		"timestamptz": {ColType{Kind: ColTimestamptz}, true}, "timestamp": {ColType{Kind: ColTimestamp}, true}, "date": {ColType{Kind: ColDate}, true},
		"bytea": {ColType{Kind: ColBytea}, true}, "jsonb": {ColType{Kind: ColJSONB}, false}, "json": {ColType{Kind: ColJSON}, false},
	} {
		if got := c.of.String(); got != want || c.of.FitsKey() != c.fits {
			t.Errorf("%s: %s, fits a key %v", want, got, c.of.FitsKey())
		}
	}
}

// A table and a column have the names that the spec gives them in the database, or their own.
func TestNamesInTheDatabase(t *testing.T) {
	own, stored := &Column{Name: "a"}, &Column{Name: "key", Stored: "id"}
	if own.InDatabase() != "a" || stored.InDatabase() != "id" || (&Table{Name: "t"}).InDatabase() != "t" || (&Table{Name: "t", Stored: "s"}).InDatabase() != "s" {
		t.Error("another name")
	}
	if (&Table{Name: "t"}).Outbox() || !(&Table{Name: "t", Stored: "idem_outbox"}).Outbox() || (&Table{Name: "idem_outbox", Stored: "t"}).Outbox() {
		t.Error("another outbox")
	}
	if got := (&Table{Columns: []*Column{own, stored}}).EventID(); got != stored {
		t.Errorf("the id is in %s", got.Name)
	}
	if got := (&Table{Columns: []*Column{own}}).EventID(); got != outboxID {
		t.Errorf("the id is in %s", got.Name)
	}
	if own.ByDatabase() || !(&Column{Identity: true}).ByDatabase() || !(&Column{Filled: true}).ByDatabase() {
		t.Error("others fill it")
	}
}

// Keys are compared as sets.
func TestColumnsOfKeys(t *testing.T) {
	ab, ba, a := []*Column{id, note}, []*Column{note, id}, []*Column{id}
	if !SameColumns(ab, ba) || SameColumns(ab, a) || SameColumns(a, ab) || SameColumns(a, []*Column{note}) || !SameColumns(nil, nil) {
		t.Error("same columns")
	}
	if !ContainsColumns(ab, a) || ContainsColumns(a, ab) || ContainsColumns(a, []*Column{note}) || !ContainsColumns(a, nil) || !ContainsColumns(ba, ab) {
		t.Error("columns that are contained")
	}
	if got := strings.Join(ColumnNames(ba), " "); got != "note id" {
		t.Error(got)
	}
}

// Parents come before their children, the rest stays as it is, and cycles end.
func TestParentsFirst(t *testing.T) {
	parent, other, outside := &Table{Name: "parent"}, &Table{Name: "other"}, &Table{Name: "outside"}
	child := &Table{Name: "child", ForeignKeys: []ForeignKey{{References: outside}, {References: parent}}}
	grandchild := &Table{Name: "grandchild", ForeignKeys: []ForeignKey{{References: child}}}
	x, y := &Table{Name: "x"}, &Table{Name: "y"}
	x.ForeignKeys, y.ForeignKeys = []ForeignKey{{References: y}, {References: x}}, []ForeignKey{{References: x}}
	var got []string
	for _, table := range ParentsFirst([]*Table{grandchild, other, child, parent, x, y}) {
		got = append(got, table.Name)
	}
	if want := "parent child grandchild other y x"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// A duration is written in its largest whole unit.
func TestDurationText(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0ms": 0, "1ms": time.Millisecond, "1500ms": 1500 * time.Millisecond, "90s": 90 * time.Second, "1m": time.Minute, "90m": 90 * time.Minute,
		"1h": time.Hour, "25h": 25 * time.Hour, "2d": 48 * time.Hour,
	} {
		if got := DurationText(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Each type that Postgres reads from texts has a text for each number, and no two are equal.
func TestParsedTexts(t *testing.T) {
	for _, name := range Parsed {
		seen := map[string]bool{}
		for _, n := range []int{0, 1, 2, 59, 60, 255, 256, 65535, 65536} {
			seen[ParsedText(name, n)] = true
		}
		if len(seen) < 9 {
			t.Errorf("%s: %d texts of 9 numbers", name, len(seen))
		}
	}
	for name, want := range map[string]string{
		"time": "00:02:00", "timetz": "00:02:00+00", "interval": "4 days", "inet": "10.0.0.2", "cidr": "10.0.0.2/32", "macaddr": "08:00:2b:00:00:02",
		"macaddr8": "08:00:2b:ff:fe:00:00:02", "citext": "Text 2", "varbit": "10", "point": "(2,1)", "int4range": "[2,3)", "daterange": "[2026-01-03,2026-01-04)",
		"tsrange": `["2026-01-01 00:02:00","2026-01-01 00:03:00")`, "tstzmultirange": `{["2026-01-01 00:02:00+00","2026-01-01 00:03:00+00")}`,
	} {
		if got := ParsedText(name, 2); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := ParsedText("inet", 1<<16+2<<8+3); got != "10.1.2.3" {
		t.Error(got)
	}
	if !slices.IsSorted(Parsed) {
		t.Error(Parsed)
	}
}
