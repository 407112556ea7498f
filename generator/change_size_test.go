package generator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/output"
)

const billing = `version: 1
consumer: billing
package: billing
types:
  Currency: {enum: [EUR, USD]}
  Item: {fields: {sku: string, qty: int32}}
tables:
  invoices:
    primary_key: [id]
    columns:
      id: uuid
      currency: text
      total: numeric(12,2)
      issued_at: timestamptz
  items:
    primary_key: [id, line]
    columns:
      id: uuid
      line: integer
      sku: text
      qty: integer
    foreign_keys: [{columns: [id], references: invoices}]
topics:
  invoices.v1:
    record_key: {id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 8d}
    event_type: {header: type}
    events:
      Issued:
        type: issued
        fields:
          id: uuid
          currency: Currency
          total: decimal
          issued_at: timestamp
          items: list(Item)
        write:
          - upsert: invoices
          - {insert: items, each: items, set: {id: id, line: {each: position}}}
`

// edit is one replacement in a text.
type edit struct{ old, new string }

var (
	lastColumn   = "      issued_at: timestamptz\n"
	lastField    = "          issued_at: timestamp\n"
	firstColumn  = "    columns:\n      id: uuid\n      currency"
	firstField   = "        fields:\n          id"
	invoicesVerb = "upsert: invoices"

	lastColumnOfItems = "      qty: integer\n"
	lastStep          = "          - {insert: items, each: items, set: {id: id, line: {each: position}}}\n"
)

// last adds a column behind those of its table, and a field behind the scalars of its event.
func last(column, field string) []edit {
	return []edit{{lastColumn, lastColumn + "      " + column + "\n"}, {lastField, lastField + "          " + field + "\n"}}
}

// first adds a column and a field before all others.
func first(column, field string) []edit {
	return []edit{
		{firstColumn, strings.Replace(firstColumn, "      id", "      "+column+"\n      id", 1)},
		{firstField, strings.Replace(firstField, "          id", "          "+field+"\n          id", 1)},
	}
}

// The figures are in docs/design.md, the first one in docs/changes.md, too.
func TestAChangeOfTheSpecChangesFewLines(t *testing.T) {
	for _, c := range []struct {
		name           string
		edits          []edit
		added, removed int // at most
	}{
		{"an optional string, last", last("note: nullable text", "note: optional string"), 25, 6},
		{"an optional string, first", first("note: nullable text", "note: optional string"), 26, 6},
		{"an optional decimal with a size, last", last("tax: nullable numeric(12,2)", "tax: optional decimal"), 27, 6},
		{"an optional decimal with a size, first", first("tax: nullable numeric(12,2)", "tax: optional decimal"), 27, 6},
		{"an optional timestamp, last", last("due_at: nullable timestamptz", "due_at: optional timestamp"), 26, 6},
		{"an optional timestamp, first", first("due_at: nullable timestamptz", "due_at: optional timestamp"), 26, 6},
		{"an optional int, last", last("pages: nullable integer", "pages: optional int32"), 26, 6},
		{"an optional int, first", first("pages: nullable integer", "pages: optional int32"), 26, 6},
		{"a text of an enum", []edit{{"[EUR, USD]", "[EUR, USD, CHF]"}}, 2, 0},
		{"an optional decimal of an element", []edit{
			{lastColumnOfItems, lastColumnOfItems + "      tax: nullable numeric(12,2)\n"}, {"qty: int32", "qty: int32, tax: optional decimal"},
		}, 35, 5},
		{"an optional list of texts", last("tags: nullable text array", "tags: optional list(string)"), 45, 5},
		{"an event", []edit{{lastStep, lastStep + "      Voided: {type: voided, fields: {id: uuid}, write: [{update: invoices, set: {total: {value: 0}}}]}\n"}}, 103, 1},
	} {
		for _, verb := range []string{"upsert", "insert"} {
			t.Run(c.name+" by "+verb, func(t *testing.T) {
				before := strings.Replace(billing, invoicesVerb, verb+": invoices", 1)
				after := before
				for _, e := range c.edits {
					if strings.Count(after, e.old) != 1 {
						t.Fatalf("%d times %q", strings.Count(after, e.old), e.old)
					}
					after = strings.Replace(after, e.old, e.new, 1)
				}
				files, added, removed, diff := changedLines(t, before, after)
				t.Logf("+%d -%d in %d files", added, removed, files)
				if files > 5 || added > c.added || removed > c.removed || added == 0 {
					t.Errorf("%d lines added and %d removed in %d files, more than %d and %d in 5:\n%s", added, removed, files, c.added, c.removed, diff)
				}
			})
		}
	}
}

// changedLines counts what a change of the spec adds to generated files but tests, and what it
// removes.
func changedLines(t *testing.T, before, after string) (files, added, removed int, diff string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idemgen.yaml")
	apply(t, path, before)
	for _, change := range apply(t, path, after) {
		if strings.HasSuffix(change.Path, "_test.go") {
			continue
		}
		files++
		diff += change.Diff()
		for line := range strings.Lines(change.Diff()) {
			switch {
			case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
			case line[0] == '+':
				added++
			case line[0] == '-':
				removed++
			}
		}
	}
	return files, added, removed, diff
}

// apply generates the code of a spec, and returns what changed.
func apply(t *testing.T, path, spec string) []output.Change {
	t.Helper()
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	result, err := Generate([]Spec{{Path: filepath.ToSlash(path), Content: []byte(spec)}})
	if err == nil && result.Refused {
		t.Fatal(result.Problems)
	}
	if err == nil {
		err = result.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Close(); err != nil {
		t.Fatal(err)
	}
	return result.Changes
}
