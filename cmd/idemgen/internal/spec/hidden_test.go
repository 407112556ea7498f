package spec

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// A text of a spec may turn the direction of what follows it. In generated files it is escaped, so
// a reader sees the code that is compiled.
func TestGeneratedFilesTurnNoText(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": strings.ReplaceAll(`version: 1
consumer: c
package: p
description: "pkg RLOevil"
types:
  E: {enum: ["aRLOb", ok], description: "type RLOevil"}
  O: {fields: {m: {type: string, path: "xRLOy"}}}
tables:
  t:
    primary_key: [id]
    name: "taRLOble"
    schema: "scRLOhema"
    description: "tab RLOevil"
    columns: {id: text, e: {type: text, name: "coRLOl", description: "col RLOevil", default: "deRLOf"}, o: jsonb, h: text}
topics:
  t.v1:
    idempotency_key: {source: {header: "keRLOy"}, window: 8d}
    event_type: {header: "tyRLOpe"}
    ignore: ["igRLOn"]
    description: "top RLOevil"
    events:
      A: {type: "evRLOa", description: "ev RLOevil", fields: {id: {type: string, path: "iRLOd", description: "f RLOevil"}, e: E, o: O, h: {type: string, header: "heRLOad", default: "deRLOf"}}, write: [{insert: t}], handle: true}
  a.v1:
    payload: {encoding: avro, schema: avro/a.avsc}
    idempotency_key: {source: id, window: 8d}
    events:
      B: {fields: {id: string, s: string}, handle: true}
`, "RLO", `\u202e`),
		"avro/a.avsc": `{"type":"record","name":"A","doc":"` + "\u202e" + `","fields":[{"name":"id","type":"string"},{"name":"s","type":"string","default":"` + "\u2066" + `"}]}`})
	must(t, "generate")
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "avro/a.avsc" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for n, line := range strings.Split(string(text), "\n") {
			if strings.ContainsFunc(line, func(c rune) bool { return unicode.Is(unicode.Bidi_Control, c) }) {
				t.Errorf("%s:%d: %+q", path, n+1, line)
			}
		}
		return err
	})
	if err != nil || files < 8 {
		t.Errorf("%d files, %v", files, err)
	}
	if code := read(t, "idem_t_v1_gen.go"); !strings.Contains(code, `// ev \u202eevil`) || !strings.Contains(code, `U&"co\+00202El"`) {
		t.Errorf("the texts are gone:\n%s", code)
	}
}
