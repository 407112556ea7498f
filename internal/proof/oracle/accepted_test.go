package oracle_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// TestExamplesOfAcceptedSpecs: the sample records beside the golden specs and the
// examples decode.
func TestExamplesOfAcceptedSpecs(t *testing.T) {
	golden, _ := filepath.Glob("../../../testdata/golden/accepted/*/idemgen.yaml")
	nested, _ := filepath.Glob("../../../testdata/golden/accepted/*/*/idemgen.yaml")
	examples, _ := filepath.Glob("../../../examples/*/idemgen.yaml")
	checked := 0
	for _, file := range slices.Concat(golden, nested, examples) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, bad := syntax.Load("idemgen.yaml", data)
		if bad.Errors() > 0 {
			t.Fatalf("%s: %v", file, bad.Sorted())
		}
		s, bad := resolve.Resolve(spec)
		if s == nil || bad.Errors() > 0 {
			t.Fatalf("%s: %v", file, bad)
		}
		if s.Examples == "" {
			continue
		}
		records, err := os.ReadFile(filepath.Join(filepath.Dir(file), filepath.FromSlash(s.Examples)))
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s names %s, which is not there", file, s.Examples)
			continue
		}
		checked++
		for _, e := range oracle.CheckExamples(s, records) {
			t.Errorf("%s: %v", file, e)
		}
	}
	if checked == 0 {
		t.Error("no spec has examples")
	}
}

// FuzzApply: JSON is what encoding/json calls valid and UTF-8 besides; anything else is
// refused as decode, and nothing panics.
func FuzzApply(f *testing.F) {
	spec, _ := syntax.Load("idemgen.yaml", []byte(`
version: 1
consumer: c
package: p
tables: {docs: {primary_key: [offs], columns: {offs: bigint, body: json}}}
topics:
  t:
    assume: [unique]
    idempotency_key: {source: {record: offset}}
    events: {Doc: {fields: {offs: {type: int64, record: offset}, body: {type: json, record: value}}, write: [{insert: docs}]}}
`))
	s, bad := resolve.Resolve(spec)
	if s == nil {
		f.Fatal(bad)
	}
	for _, text := range []string{`{"a":[1,-0.5e+3,"\u00e9\\"],"b":null}`, `"\ud83d\ude00"`, `"\ud83d"`, `[1,]`, `01`, "\ufeff1", "\"\xff\"", `{"a":1,"a":2}`, ``, `nul`, `1e`, ` 1 `} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if value == nil {
			return
		}
		out := oracle.New(s).Apply(oracle.Record{Topic: "t", Value: value})
		valid := json.Valid(value) && utf8.Valid(value)
		if out.Kind == oracle.Applied && !valid {
			t.Errorf("%q was applied", value)
		}
		if out.Kind != oracle.Applied && out.Class != oracle.ClassDecode {
			t.Errorf("%q: %+v", value, out)
		}
		// JSON that is refused all the same: null, half surrogates, U+0000, deep nesting.
		if out.Kind != oracle.Applied && valid && out.Detail != "must not be null" && out.Detail != "contains half of a surrogate pair" &&
			out.Detail != "contains U+0000" && out.Detail != "nested deeper than 64 levels" {
			t.Errorf("%q: %+v", value, out)
		}
	})
}
