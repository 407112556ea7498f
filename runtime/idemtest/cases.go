package idemtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// RunCases runs each case of the service as a subtest: once, in batches of every size, with every
// event repeated, over a crash at every step and after a redelivery. The tables must be what the
// case says each time. A case that idemgen has not read as it is now fails. With go test -short
// each case is run once, and once more with every event repeated.
func (s Service) RunCases(t *testing.T) {
	names, err := s.caseNames()
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		t.Skip("there are no cases: idemgen case NAME begins one")
	} else if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r, err := s.caseRunner(name)
			if err != nil {
				t.Fatalf("idemtest: %v", err)
			}
			r.run(t)
		})
	}
}

// caseNames are those of the cases, and those of what was made of cases that are gone.
func (s Service) caseNames() ([]string, error) {
	entries, err := os.ReadDir(s.Cases)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name, isCase := strings.CutSuffix(entry.Name(), ".yaml")
		made, isMade := strings.CutPrefix(entry.Name(), "idem_")
		made, isLog := strings.CutSuffix(made, "_log.jsonl")
		switch {
		case isCase:
			names = append(names, name)
		case isMade && isLog:
			names = append(names, made)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (s Service) caseFile(name, ending string) string {
	return filepath.Join(s.Cases, "idem_"+name+ending)
}

// caseRunner reads what idemgen made of a case.
func (s Service) caseRunner(name string) (*runner, error) {
	path := filepath.Join(s.Cases, name+".yaml")
	if err := s.current(name, path); err != nil {
		return nil, err
	}
	log, err := readLog(s.caseFile(name, "_log.jsonl"), s.Events)
	if err != nil {
		return nil, fmt.Errorf("%w: run idemgen generate", err)
	}
	want, err := readExpected(s.caseFile(name, "_expected.txt"))
	if err != nil {
		return nil, err
	}
	s.Tables = s.compared(want)
	want.asJSON()
	r := &runner{
		Suite: Suite{Service: s}, start: s.New, log: numbered("", log), want: want, source: path, ofCase: true,
	}
	if rows := s.caseFile(name, "_rows.sql"); exists(rows) {
		r.Rows = rows
	}
	for i, e := range log {
		r.log[i].answer.own = e.Effect != "" && e.Result == nil && e.Failure == ""
	}
	steps := map[string]bool{}
	r.scenarios = func() []scenario { return ofACase(len(log), steps) }
	return r, nil
}

// current refuses a case that changed, came or went since idemgen read it.
func (s Service) current(name, path string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone: run idemgen generate", path)
	} else if err != nil {
		return err
	}
	log, err := os.ReadFile(s.caseFile(name, "_log.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is new: run idemgen generate", path)
	} else if err != nil {
		return err
	}
	var head logHead
	first, _, _ := bytes.Cut(log, []byte("\n"))
	if err := json.Unmarshal(first, &head); err != nil {
		return fmt.Errorf("%s: %w: run idemgen generate", s.caseFile(name, "_log.jsonl"), err)
	}
	sum := sha256.Sum256(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
	if head.SHA256 != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("%s changed since idemgen read it: run idemgen generate", path)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// compared are the tables that the case names, with the columns that it names.
func (s Service) compared(want *state) (tables []Table) {
	for _, w := range want.tables {
		t := Table{Name: w.table}
		if i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == w.table }); i >= 0 {
			t = s.Tables[i]
		}
		t.counted = w.counted != notCounted
		if len(t.Key) > 0 {
			t.Columns = t.Key
		}
		if len(w.cells) > 0 {
			t.Columns = nil
			for _, cell := range w.cells[0] {
				t.Columns = append(t.Columns, columnOf(cell))
			}
		}
		tables = append(tables, t)
	}
	return tables
}
