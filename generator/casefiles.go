package generator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/cases"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/oracle"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// caseFiles are the cases of a unit.
type caseFiles []*caseFile

// caseFile is one case of a unit.
type caseFile struct {
	name     string // without the ending
	path     string // as messages show it
	content  []byte
	problems syntax.Diagnostics
	parsed   *cases.Case // nil if it is not in order
}

var caseName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

const caseRule = "a case is named by a lower-case letter, then up to 40 lower-case letters, digits or _, and .yaml"

// readCases reads the cases beside the spec.
func readCases(u *unit) error {
	entries, err := u.folder.List(scaffold.CasesFolder)
	if err != nil {
		return err
	}
	var in *oracle.Interpreter
	for _, entry := range entries {
		file := path.Join(scaffold.CasesFolder, entry.Name())
		ending := path.Ext(file)
		if entry.IsDir() || ending != ".yaml" && ending != ".yml" {
			continue
		}
		c := caseFile{name: strings.TrimSuffix(entry.Name(), ending), path: u.folder.Show(file)}
		if c.content, err = u.folder.Read(file); err != nil {
			return err
		}
		if ending != ".yaml" || !caseName.MatchString(c.name) {
			c.problems.Add(syntax.Pos{Line: 1, Col: 1, Width: 1}, "E201", fmt.Sprintf("%q is not a valid name of a case", entry.Name()), caseRule)
			u.cases = append(u.cases, &c)
			continue
		}
		if in == nil {
			in = oracle.New(u.service)
		}
		c.read(u, in.Fresh())
		u.cases = append(u.cases, &c)
	}
	if u.sample && len(u.cases) == 0 {
		c, err := sampleCase(u)
		if err != nil {
			return err
		}
		u.cases = append(u.cases, c)
		u.addScaffold(c.file(), c.content)
	}
	return nil
}

// Case writes nothing; it returns what applying the result writes: the draft of a case beside a
// spec, with a record of an event. Without an event it is the first one with Go code, else the
// first one. A case of that name that is there already is an error.
func Case(s Spec, name, event string) (_ *Result, err error) {
	if !caseName.MatchString(name) {
		return nil, fmt.Errorf("%q is not a valid name of a case: %s", name, caseRule)
	}
	service, err := serviceOf(s)
	if err != nil {
		return nil, err
	}
	e, err := eventFor(service, event)
	if err != nil {
		return nil, err
	}
	u, err := open(s)
	if err != nil {
		return nil, err
	}
	c := caseFile{name: name}
	change, err := u.folder.Compare(output.File{Path: c.file(), Policy: output.Scaffold, Data: cases.Draft(service, e)})
	if err == nil && change.Op == "" {
		err = fmt.Errorf("%s exists; idemgen case replaces nothing", change.Path)
	}
	if err != nil {
		return nil, errors.Join(err, u.folder.Close())
	}
	result := &Result{Changes: []output.Change{change}, folders: []*output.Folder{u.folder}}
	for _, f := range editorFiles() { // which the draft names
		change, err := u.folder.Compare(f)
		if err != nil {
			return nil, errors.Join(err, u.folder.Close())
		}
		if change.Op != "" {
			result.Changes = append(result.Changes, change)
		}
	}
	return result, nil
}

// eventFor finds the event that a draft shows.
func eventFor(s *model.Service, name string) (*model.Event, error) {
	var found *model.Event
	var names []string
	for _, t := range s.Topics {
		for _, e := range t.Events {
			names = append(names, e.Name)
			if e.Name == name || name == "" && (found == nil || e.HasCode() && !found.HasCode()) {
				found = e
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no event %q; the spec has %s", name, strings.Join(names, ", "))
	}
	return found, nil
}

// sampleCase is the case of the sample's Go code.
func sampleCase(u *unit) (*caseFile, error) {
	c := caseFile{}
	var err error
	if c.name, c.content, err = scaffold.SampleCase(); err != nil {
		return nil, err
	}
	c.path = u.folder.Show(c.file())
	c.read(u, oracle.New(u.service))
	return &c, nil
}

// file is the case's path in the folder of the spec.
func (c *caseFile) file() string { return path.Join(scaffold.CasesFolder, c.name+".yaml") }

func (c *caseFile) read(u *unit, in *oracle.Interpreter) {
	parsed, problems := syntax.LoadCase(c.path, c.content)
	if c.problems = problems; parsed.Broken {
		return
	}
	resolved, problems := cases.Resolve(u.service, in, parsed)
	if c.problems.Append(problems); c.problems.Errors() == 0 {
		c.parsed = resolved
	}
}

// render renders what the generated test runs of each case.
func (all caseFiles) render(s *model.Service) (files []output.File, err error) {
	for _, c := range all {
		d := testData{
			source: c.file(), digest: digest(c.content), topics: s.Topics,
			stem: path.Join(scaffold.CasesFolder, "idem_"+c.name), before: c.parsed.Given, about: "Rows that are there before the records of " + c.name + ".yaml.",
			expected: caseExpected(c.parsed),
		}
		for _, r := range c.parsed.Records {
			d.log = append(d.log, testRecord{Record: r})
		}
		more, err := d.files()
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// digest tells whether a case changed since its files were generated, whatever its lines end in.
func digest(content []byte) string {
	sum := sha256.Sum256(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// caseExpected is what must be there behind a case, in the form of the expected rows of a topic.
// Behind the name of a table that is only counted stands the number.
func caseExpected(c *cases.Case) []byte {
	var b bytes.Buffer
	for _, t := range c.Then {
		if t.Count > 0 && t.Rows == nil {
			fmt.Fprintf(&b, "table %s %d\n", t.Name, t.Count)
			continue
		}
		fmt.Fprintf(&b, "table %s\n", t.Name)
		for _, row := range t.Rows {
			for i, cell := range row {
				if i > 0 {
					b.WriteString("  ")
				}
				b.WriteString(t.Columns[i] + "=" + cell)
			}
			b.WriteByte('\n')
		}
	}
	for _, d := range c.DeadLetters {
		fmt.Fprintf(&b, "dead letters %s %d\n", d.Class, d.Count)
	}
	for _, e := range c.Calls {
		fmt.Fprintf(&b, "calls %s %d\n", e.Event, e.Count)
	}
	return b.Bytes()
}
