package cases_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof/cases"
)

// serviceOf is the service of a spec, with other files beside it.
func serviceOf(t *testing.T, spec string, files map[string]string) *model.Service {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"idemgen.yaml": spec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return service(t, filepath.Join(dir, "idemgen.yaml"))
}

// A column of any type that holds JSON takes a map, a list and the text of either, and expects
// them in one form, whatever their spaces and the order of their members.
func TestJSONInRowsOfACase(t *testing.T) {
	const spec = `
version: 1
consumer: sender
package: sender
tables:
  sent: {primary_key: [id], columns: {id: text, of_bytea: nullable bytea, of_jsonb: nullable jsonb, of_json: nullable json}}
topics:
  orders.v1:
    idempotency_key: {source: id, window: 1d}
    events: {Paid: {fields: {id: string}, handle: true}}
`
	s := serviceOf(t, spec, nil)
	for _, column := range []string{"of_bytea", "of_jsonb", "of_json"} {
		for value, want := range map[string]string{
			"{total: 12.50, id: o-1}":            `{"id":"o-1","total":12.50}`,
			"[1, {b: null, a: '2'}]":             `[1,{"a":"2","b":null}]`,
			`'{ "total": 12.50, "id": "o-1" }'`:  `{"id":"o-1","total":12.50}`,
			"null":                               "NULL",
			"{}":                                 "{}",
			`{text: "a\nb  c", deep: {x: [[]]}}`: `{"deep":{"x":[[]]},"text":"a\nb  c"}`,
		} {
			text := "given:\n  sent:\n    - {id: before, " + column + ": " + value + "}\nevents:\n  - {topic: orders.v1, value: {id: o-1}}\nthen:\n  sent:\n    - {id: o-1, " + column + ": " + value + "}\n"
			read := false
			problems := whole(s, text, func(c *cases.Case) {
				read = true
				if got := c.Then[0].Rows[0]; !slices.Equal(got, []string{`"o-1"`, want}) {
					t.Errorf("%s: %s is expected as %q, want %q", column, value, got, want)
				}
			})
			if !read {
				t.Errorf("%s: %s: %v", column, value, problems.Sorted())
			}
		}
	}
	if whole(s, "events:\n  - {topic: orders.v1, value: {id: o-1}}\nthen:\n  sent:\n    - {id: o-1, of_bytea: '{broken'}\n", nil).Errors() == 0 {
		t.Error("a text that is neither base64 nor JSON is accepted for a bytea column")
	}
}
