// Command keys writes docs/keys.md: a section for each key of a spec. What the keys are comes from
// the JSON Schema, what they mean from the tables of docs/spec.md, and the examples from specs of
// the documentation and of the examples. It must not import any package of this module.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	text, err := page(".")
	if err == nil {
		err = os.WriteFile("docs/keys.md", text, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const intro = `# Keys, one by one

Every key of ` + "`idemgen.yaml`" + `, with an example. The rules that reach over several keys are in
[spec.md](spec.md), from whose tables ` + "`go run ./scripts/keys`" + ` makes this page.

`

// page is the text of docs/keys.md, of the module in root.
func page(root string) ([]byte, error) {
	schema, err := readSchema(filepath.Join(root, "schema/idemgen.v1.schema.json"))
	if err != nil {
		return nil, err
	}
	meaning, err := os.ReadFile(filepath.Join(root, "docs/spec.md"))
	if err != nil {
		return nil, err
	}
	rows := readRows(string(meaning))
	specs, err := readSpecs(root)
	if err != nil {
		return nil, err
	}
	keys, examples := schema.keys(), schema.examples(specs)
	var sections bytes.Buffer
	for _, k := range keys {
		r, ok := k.row(rows)
		if !ok {
			return nil, fmt.Errorf("docs/spec.md has no row for %s of %s", k.name, k.of)
		}
		if len(examples[k.place]) == 0 {
			return nil, fmt.Errorf("no spec of the docs and examples has %s", k.place)
		}
		section(&sections, k, r, example(examples[k.place]))
	}
	var b bytes.Buffer
	b.WriteString(intro)
	index(&b, keys)
	b.Write(sections.Bytes())
	return b.Bytes(), nil
}

// index lists the keys from A to Z.
func index(b *bytes.Buffer, keys []key) {
	sorted := slices.SortedStableFunc(slices.Values(keys), func(a, b key) int { return cmp.Compare(a.name, b.name) })
	b.WriteString("| key | |\n|---|---|\n")
	for i, k := range sorted {
		if i > 0 && sorted[i-1].name == k.name {
			continue
		}
		var places []string
		for _, same := range sorted[i:] {
			if same.name != k.name {
				break
			}
			places = append(places, fmt.Sprintf("[%s](#%s)", same.of, anchor(same.title())))
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", k.name, strings.Join(places, " · "))
	}
}

// section is one key, in the same form for each.
func section(b *bytes.Buffer, k key, r row, example string) {
	fmt.Fprintf(b, "\n## %s\n| | |\n|---|---|\n", k.title())
	for _, line := range [][2]string{
		{"what", r.meaning}, {"with", r.with}, {"values", r.value}, {"default", cmp.Or(r.standard, "none")}, {"refused", r.refused},
		{"rules", fmt.Sprintf("[%s](#%s)", r.heading, anchor(r.heading))},
	} {
		if line[1] != "" {
			fmt.Fprintf(b, "| %s | %s |\n", line[0], strings.ReplaceAll(line[1], "](#", "](spec.md#"))
		}
	}
	fmt.Fprintf(b, "```yaml\n%s\n```\n", example)
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
