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

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
)

// Cases is what the generated test of a service's cases fills in. A case says which rows are
// there, which records come, and what must be there then.
type Cases struct {
	Folder     string            // of the cases, and of what idemgen made of them
	External   string            // file that makes the tables of others, applied before Migrations; "" for none
	Migrations string            // folder of *.sql files, applied in the order of their names
	Tables     []Table           // of the whole service, in the order of the spec
	Encodings  map[string]string // as in [Suite]
	// New makes the consumer with the service's own handlers, and effects as in [CallsEffect].
	New    func(t testing.TB, db *pgxpool.Pool) (*idem.Consumer, error)
	Events map[string]Event // by name, what all records of an event have in common
}

// Run runs each case as a subtest: once, in batches of every size, with every event repeated, over
// a crash at every step and after a redelivery. The tables must be what the case says each time. A
// case that idemgen has not read as it is now fails. With go test -short each case is run once,
// and once more with every event repeated.
func (c Cases) Run(t *testing.T) {
	names, err := c.names()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r, err := c.runner(name)
			if err != nil {
				t.Fatalf("idemtest: %v", err)
			}
			r.run(t)
		})
	}
}

// names are those of the cases, and those of what was made of cases that are gone.
func (c Cases) names() ([]string, error) {
	entries, err := os.ReadDir(c.Folder)
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

func (c Cases) file(name, ending string) string {
	return filepath.Join(c.Folder, "idem_"+name+ending)
}

// runner reads what idemgen made of a case.
func (c Cases) runner(name string) (*runner, error) {
	path := filepath.Join(c.Folder, name+".yaml")
	if err := c.current(name, path); err != nil {
		return nil, err
	}
	log, err := readLog(c.file(name, "_log.jsonl"), c.Events)
	if err != nil {
		return nil, fmt.Errorf("%w: run idemgen generate", err)
	}
	want, err := readExpected(c.file(name, "_expected.txt"))
	if err != nil {
		return nil, err
	}
	r := &runner{
		Suite: Suite{External: c.External, Migrations: c.Migrations, Tables: c.compared(want), Encodings: c.Encodings},
		start: c.New, log: numbered("", log), want: want, source: path, ofCase: true,
	}
	if rows := c.file(name, "_rows.sql"); exists(rows) {
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
func (c Cases) current(name, path string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone: run idemgen generate", path)
	} else if err != nil {
		return err
	}
	log, err := os.ReadFile(c.file(name, "_log.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is new: run idemgen generate", path)
	} else if err != nil {
		return err
	}
	var head logHead
	first, _, _ := bytes.Cut(log, []byte("\n"))
	if err := json.Unmarshal(first, &head); err != nil {
		return fmt.Errorf("%s: %w: run idemgen generate", c.file(name, "_log.jsonl"), err)
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
func (c Cases) compared(want *state) (tables []Table) {
	for _, w := range want.tables {
		t := Table{Name: w.table}
		if i := slices.IndexFunc(c.Tables, func(t Table) bool { return t.Name == w.table }); i >= 0 {
			t = c.Tables[i]
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
