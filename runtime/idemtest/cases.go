package idemtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/proof"
)

// RunCases runs each case of the service as a subtest: in order, in batches of every size, with
// every event repeated, with a crash at every step, and with redelivery. Each time the tables must
// match the case. With go test -short, each case runs only in order and with every event repeated.
func (s Service) RunCases(t *testing.T) {
	dir := filepath.Join(filepath.Dir(s.Spec), proof.CasesFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		t.Skip("there are no cases: idemgen case NAME begins one")
	} else if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	spec, err := proof.Read(s.Spec, s.Digest)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	for _, entry := range entries {
		name, err := proof.CaseName(entry)
		if err != nil {
			t.Errorf("idemtest: %s: %v: %s", dir, err, proof.CaseRule)
		}
		if name == "" || err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, err := s.caseRunner(spec, filepath.Join(dir, entry.Name()))
			if err != nil {
				t.Fatalf("idemtest: %v", err)
			}
			r.run(t)
		})
	}
}

// caseRunner reads a case and returns the runner of its scenarios.
func (s Service) caseRunner(spec *proof.Service, path string) (*runner, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script, problems := spec.Case(path, content)
	if problems.Errors() > 0 {
		var text strings.Builder
		err := problems.Print(&text, path, content)
		return nil, errors.Join(fmt.Errorf("the case is invalid:\n%s", text.String()), err)
	}
	r, err := s.runner(spec, script)
	if err != nil {
		return nil, err
	}
	log := events(spec, script)
	r.log, r.source, r.ofCase = numbered("", log), path, true
	for i, e := range log {
		r.log[i].answer.own = e.effect != "" && e.Result == nil && e.Failure == ""
	}
	r.compareOnly(script)
	steps := map[string]bool{}
	r.scenarios = func() []scenario { return ofACase(len(log), steps) }
	return r, nil
}

// compareOnly limits the comparison to the tables and columns that the case names.
func (c *runner) compareOnly(script proof.Script) {
	all := c.tables
	c.tables = nil
	for _, want := range script.Then {
		t := all[slices.IndexFunc(all, func(t comparedTable) bool { return t.Name == want.Name })]
		t.counted = len(want.Columns) == 0 && want.Count > 0
		if len(t.Key) > 0 {
			t.Columns = t.Key
		}
		if len(want.Columns) > 0 {
			t.Columns = want.Columns
		}
		c.tables = append(c.tables, t)
	}
	c.want.asJSON()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
