package syntax

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestJSONSchema: the editor's schema has exactly the keys, required keys and closed
// words that Load reads, at every place.
func TestJSONSchema(t *testing.T) {
	top := shape{keys: specKeys.shapes()}
	for _, k := range top.keys {
		if k.name == "tables" { // checked there, because of the message
			requireKey(k.shape.entries.keys, "primary_key")
		}
		if k.name == "topics" {
			for _, in := range k.shape.entries.keys {
				if in.name == "events" {
					for _, of := range in.shape.entries.keys {
						if of.name == "effect" {
							requireKey(of.shape.keys, "if_interrupted")
						}
					}
				}
			}
		}
	}
	hold(t, "../../../schema/idemgen.v1.schema.json", top, 150)
}

// TestCaseJSONSchema: the same for cases.
func TestCaseJSONSchema(t *testing.T) {
	hold(t, "../../../schema/idemgen.case.v1.schema.json", shape{keys: caseKeys.shapes()}, 30)
}

// hold compares an editor's schema with the keys that are read, which are so many lines at least.
func hold(t *testing.T, file string, top shape, least int) {
	t.Helper()
	schema, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(schema, &doc); err != nil {
		t.Fatal(err)
	}
	walked := map[string]bool{}
	top.lines("", walked)
	listed := map[string]bool{}
	jsonLines(t, doc, doc, "", listed)
	for _, line := range slices.Sorted(maps.Keys(walked)) {
		if !listed[line] {
			t.Errorf("Load reads it, the JSON schema lacks it: %s", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(listed)) {
		if !walked[line] {
			t.Errorf("only in the JSON schema: %s", line)
		}
	}
	if len(walked) < least {
		t.Errorf("only %d lines compared", len(walked))
	}
}

func requireKey(ks []keyShape, name string) {
	for i := range ks {
		if ks[i].name == name {
			ks[i].required = true
		}
	}
}

// lines writes a shape as one line per key, form and word.
func (s shape) lines(path string, out map[string]bool) {
	if s.scalar {
		out[path+" text"] = true
	}
	for _, w := range s.words {
		out[path+" = "+w] = true
	}
	for _, k := range s.keys {
		out[path+"."+k.name] = true
		if k.required {
			out[path+"."+k.name+" required"] = true
		}
		k.shape.lines(path+"."+k.name, out)
	}
	if s.entries != nil {
		s.entries.lines(path+".*", out)
	}
	if s.items != nil {
		s.items.lines(path+"[]", out)
	}
}

// jsonLines does the same for a JSON schema.
func jsonLines(t *testing.T, root, s map[string]any, path string, out map[string]bool) {
	if ref, ok := s["$ref"].(string); ok {
		target := referred(root, ref)
		if target == nil {
			t.Fatalf("%s: no definition %s", path, ref)
		}
		jsonLines(t, root, target, path, out)
		return
	}
	if alternatives, ok := s["anyOf"].([]any); ok {
		for _, a := range alternatives {
			jsonLines(t, root, a.(map[string]any), path, out)
		}
		return
	}
	if words, ok := s["enum"].([]any); ok {
		for _, w := range words {
			out[path+" = "+fmt.Sprint(w)] = true
		}
		return
	}
	switch s["type"] {
	case "object":
		if props, ok := s["properties"].(map[string]any); ok {
			if s["additionalProperties"] != false {
				t.Errorf("%s: additionalProperties must be false", path)
			}
			for name, p := range props {
				out[path+"."+name] = true
				described(t, root, p.(map[string]any), path+"."+name)
				jsonLines(t, root, p.(map[string]any), path+"."+name, out)
			}
			for _, r := range list(s["required"]) {
				// A part of several, or of also, is no offset, so there header is required.
				if !strings.HasSuffix(path, "source[]") && !strings.Contains(path, "also[]") {
					out[path+"."+r.(string)+" required"] = true
				}
			}
			return
		}
		jsonLines(t, root, s["additionalProperties"].(map[string]any), path+".*", out)
	case "array":
		jsonLines(t, root, s["items"].(map[string]any), path+"[]", out)
	default:
		out[path+" text"] = true
	}
}

// referred is what a reference like "#/definitions/step" names; nil if there is none.
func referred(root map[string]any, ref string) map[string]any {
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		root, _ = root[name].(map[string]any)
	}
	return root
}

func list(v any) []any { l, _ := v.([]any); return l }

// described: every key says what it is for.
func described(t *testing.T, root, s map[string]any, path string) {
	for ref, ok := s["$ref"].(string); ok; ref, ok = s["$ref"].(string) {
		s = referred(root, ref)
	}
	if d, _ := s["description"].(string); d == "" {
		t.Errorf("%s has no description", path)
	}
}
