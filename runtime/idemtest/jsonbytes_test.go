package idemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/proof/cases"
)

// A case says what JSON is in bytes, and the bytes may differ in all that JSON leaves open.
func TestACaseComparesJSONInBytesAsJSON(t *testing.T) {
	for name, c := range map[string]struct {
		stored, want string
		says         []string // nothing if they are equal
	}{
		"other spaces and order": {`{"b": [1.50, null],  "a":"x  y"}`, `{"a":"x  y","b":[1.50,null]}`, nil},
		"given as bytes":         {`{"b": 1}`, `\x7b2262223a317d`, nil},
		"other value":            {`{"b": 2}`, `{"b":1}`, []string{`item id=1: payload: want {"b":1}, got {"b":2}`}},
		"other digits":           {`{"b": 1.5}`, `{"b":1.50}`, []string{`want {"b":1.50}, got {"b":1.5}`}},
		"twice":                  {`{"b": 1}{"b": 1}`, `{"b":1}`, []string{`want {"b":1}, got "{\"b\": 1}{\"b\": 1}"`}},
		"a text":                 {`paid`, `{"b":1}`, []string{`want {"b":1}, got "paid"`}},
		"other text":             {`paid`, `\x70616964`, nil},
		"no text":                {"\x00\xff", `{"b":1}`, []string{`want {"b":1}, got \x00ff`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := smallCase(t, flaw{}, func(says *cases.Case) {
				says.Then = []cases.Table{{
					Name: "item", Columns: []string{"id", "payload"}, Rows: [][]string{{"1", c.want}, {"2", c.want}, {"3", c.want}}, Count: 3,
				}}
			})
			sql := fmt.Sprintf(`ALTER TABLE item ADD payload bytea DEFAULT '\x%x'`, c.stored)
			if err := os.WriteFile(filepath.Join(r.Migrations, "0002.sql"), []byte(sql), 0o600); err != nil {
				t.Fatal(err)
			}
			got := failures(t, r, "once")
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
