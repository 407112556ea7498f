package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// The files are what this command makes now.
func TestMadeFilesAreUpToDate(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what go run ./scripts/keys writes now", name)
		}
	}
}

// The page's links lead to headings of it, and each heading is there once.
func TestLinksOfThePage(t *testing.T) {
	text, headings, links := string(files()["docs/keys.md"]), map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if headings[anchor(m[1])] {
			t.Errorf("two sections are called %s", m[1])
		}
		headings[anchor(m[1])] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if links++; !headings[link[1]] {
			t.Errorf("no section is called %s", link[1])
		}
	}
	if links < 120 {
		t.Errorf("%d links only", links)
	}
	for _, line := range []string{"- Default: 500", "- Values: `keep` (default), `drop`", "- Required with Avro and Protobuf", "- Verbs: `upsert`", "- Values: 1s to 3650d"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line is %q", line)
		}
	}
}

func schemaOf(t *testing.T, name string) map[string]any {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(files()["schema/"+name], &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// parsed is a YAML text as an editor sees it.
func parsed(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// An editor finds nothing wrong with a spec or a case that idemgen accepts.
func TestSchemasAcceptWhatTheGeneratorAccepts(t *testing.T) {
	for name, globs := range map[string][]string{
		"idemgen.v1.schema.json":      {"testdata/golden/accepted/*/idemgen.yaml", "examples/*/idemgen.yaml", "examples/*/*/idemgen.yaml", "bench/*/idemgen.yaml"},
		"idemgen.case.v1.schema.json": {"testdata/golden/accepted/*/testdata/cases/*.yaml", "examples/*/testdata/cases/*.yaml"},
	} {
		schema := schemaOf(t, name)
		for _, glob := range globs {
			found, err := filepath.Glob(filepath.Join("../..", glob))
			if err != nil || len(found) == 0 {
				t.Fatalf("%s: %v", glob, err)
			}
			for _, file := range found {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if flaw := flawOf(schema, schema, parsed(t, text), ""); flaw != "" {
					t.Errorf("%s: %s", file, flaw)
				}
			}
		}
	}
}

// A mistake that the reader of specs finds in one map is found by an editor, too.
func TestTheSchemaRefusesWhatTheReaderRefuses(t *testing.T) {
	const good = `version: 1
consumer: orders
package: orders
types: {Line: {fields: {sku: string}}}
tables: {orders: {primary_key: [id], columns: {id: uuid}}}
topics:
  orders.v1:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: id, window: 8d}
    start_from: latest
    events:
      Placed:
        type: placed
        write: [{insert: orders, set: {id: {value: x}}}]
        effect: {if_interrupted: retry, lock: {orders: id}}
    on_failure: {retries: 3}
limits: {max_payload: 1MiB}
`
	schema := schemaOf(t, "idemgen.v1.schema.json")
	if flaw := flawOf(schema, schema, parsed(t, []byte(good)), ""); flaw != "" {
		t.Fatal(flaw)
	}
	for _, change := range [][2]string{
		{"version: 1", "version: 2"},                                    // E109
		{"consumer: orders\n", ""},                                      // E105
		{"consumer: orders", "consumer: Orders"},                        // E201
		{"primary_key: [id], ", ""},                                     // E604
		{"primary_key: [id]", "primary_keys: [id]"},                     // E104
		{"{id: uuid}}}", "{Id: uuid}}}"},                                // E201
		{"{fields: {sku: string}}", "{fields: {a: string}, enum: [b]}"}, // E110
		{"[ordered]", "[sorted]"},                                       // E111
		{"[ordered]", "[]"},                                             // E106
		{"[ordered]", "ordered"},                                        // E106
		{"{header: type}", "{header: type, path: type}"},                // E110
		{"source: id, ", ""},                                            // E105
		{"8d", "8 days"},                                                // E108
		{"start_from: latest", "start_from: newest"},                    // E111
		{"{insert: orders,", "{insert: orders, update: orders,"},        // E110
		{"{value: x}", "{value: x, now: true}"},                         // E110
		{"if_interrupted: retry, ", ""},                                 // E801
		{"lock: {orders: id}", "lock: {orders: id, users: id}"},         // E110
		{"retries: 3", "retries: -1"},                                   // E708
		{"retries: 3", "retries: three"},                                // E108
		{"1MiB", "1MB"},                                                 // E108
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if _, ds := syntax.Load("idemgen.yaml", []byte(text)); ds.Errors() == 0 || text == good {
			t.Errorf("the reader accepts %q", change[1])
		}
		if flawOf(schema, schema, parsed(t, []byte(text)), "") == "" {
			t.Errorf("the schema accepts %q", change[1])
		}
	}
}
