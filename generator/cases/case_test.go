package cases

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/generator/seedlog"
	"github.com/idemgen/idemgen/schema"
)

// eachSpec goes over the specs that the repository holds.
func eachSpec(t *testing.T, do func(t *testing.T, s *model.Service)) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/golden/accepted/*/idemgen.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d specs (%v)", len(files), err)
	}
	examples, err := filepath.Glob("../../examples/*/idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sharing, err := filepath.Glob("../../examples/*/*/idemgen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(files, examples, sharing) {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spec, problems := schema.Load("idemgen.yaml", content)
			s, more := resolve.Resolve(spec)
			if problems.Append(more); s == nil || problems.Errors() > 0 {
				t.Fatal(problems.Sorted())
			}
			do(t, s)
		})
	}
}

// A case of one event says nothing of another.
func TestACaseHoldsTheEventsThatItHas(t *testing.T) {
	eachSpec(t, func(t *testing.T, s *model.Service) {
		for _, topic := range s.Topics {
			for _, e := range topic.Events {
				c := &Case{Records: []seedlog.Record{{Event: e.GoName, Topic: topic.Kafka[0]}}}
				for _, other := range topic.Events {
					if c.Holds(other) != (other == e) {
						t.Errorf("a case of %s holds %s: %v", e.Name, other.Name, other != e)
					}
				}
			}
		}
	})
}
