package idemtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof"
)

// RunCases runs each case of the service as a subtest: in order, in batches of every size, with
// every event repeated, with a crash at every step, and with redelivery. Each time the tables must
// match the case. With go test -short, each case runs only in order and with every event repeated.
func (s Service) RunCases(t *testing.T) {
	files, wrong := s.cases()
	if len(files) == 0 && wrong == nil {
		t.Skip("there are no cases: idemgen case NAME writes a draft")
	}
	spec, err := proof.Read(s.Spec, s.Digest)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	if wrong != nil {
		t.Errorf("idemtest: %v", wrong)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			script, err := readCase(spec, file)
			if err != nil {
				t.Fatalf("idemtest: %v", err)
			}
			r, err := s.caseRunner(spec, file, script)
			if err != nil {
				t.Fatalf("idemtest: %v", err)
			}
			r.run(t)
		})
	}
}

// CompareCase reports how a database differs from what a case says under then: rows and dead
// letters, a line for each difference; "" if there is none. The records of the case were applied
// to the database in their order, by any program, and those of a topic went to its partition 0.
// The tables without are not compared.
func (s Service) CompareCase(ctx context.Context, db *pgxpool.Pool, file string, without ...string) (differences string, err error) {
	spec, err := proof.Read(s.Spec, s.Digest)
	if err != nil {
		return "", err
	}
	script, err := readCase(spec, file)
	if err != nil {
		return "", err
	}
	c, err := s.caseRunner(spec, file, script)
	if err != nil {
		return "", err
	}
	c.tables = slices.DeleteFunc(c.tables, func(t comparedTable) bool { return slices.Contains(without, t.Name) })
	c.want.tables = slices.DeleteFunc(c.want.tables, func(r rows) bool { return slices.Contains(without, r.table) })
	got, err := c.read(ctx, db)
	if err != nil {
		return "", err
	}
	if err := c.normalize(ctx, db); err != nil {
		return "", err
	}
	letters, err := readLetters(ctx, db)
	if err != nil {
		return "", err
	}
	index := map[recordOffset]int{}
	for _, r := range c.log {
		index[placeOf(r.message)] = r.index
	}
	lines := []string{c.rowDiff(c.want, got), c.want.classDiff(letters, func(at recordOffset) int { return index[at] })}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n"), nil
}

// cases are the files of the service's cases. The error is about files that look like some and
// have other names.
func (s Service) cases() (files []string, wrong error) {
	dir := filepath.Join(filepath.Dir(s.Spec), proof.CasesFolder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		switch name, err := proof.CaseName(entry); {
		case err != nil:
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w: %s", dir, err, proof.CaseRule))
		case name != "":
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files, wrong
}

// readCase reads a case.
func readCase(spec *proof.Service, path string) (proof.Script, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return proof.Script{}, err
	}
	script, problems := spec.Case(path, content)
	if problems.Errors() > 0 {
		var text strings.Builder
		err := problems.Print(&text, path, content)
		return script, errors.Join(fmt.Errorf("the case is invalid:\n%s", text.String()), err)
	}
	return script, nil
}

// caseRunner returns the runner of a case's scenarios.
func (s Service) caseRunner(spec *proof.Service, path string, script proof.Script) (*runner, error) {
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
	r.scenarios = func() []scenario { return ofACase(r.log, steps) }
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
