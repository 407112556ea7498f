package generator

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// caseFile is one case of a unit.
type caseFile struct {
	name     string // without the ending
	path     string // as messages show it
	content  []byte
	problems syntax.Diagnostics
	script   proof.Script
}

// readCases reads the cases beside the spec.
func readCases(u *unit) error {
	entries, err := u.folder.List(proof.CasesFolder)
	if err != nil {
		return err
	}
	service := proof.Of(u.service)
	for _, entry := range entries {
		name, wrong := proof.CaseName(entry)
		if name == "" {
			continue
		}
		file := path.Join(proof.CasesFolder, entry.Name())
		c := caseFile{name: name, path: u.folder.Show(file)}
		if c.content, err = u.folder.Read(file); err != nil {
			return err
		}
		if wrong != nil {
			c.problems.Add(syntax.Pos{Line: 1, Col: 1, Width: 1}, "E201", wrong.Error(), proof.CaseRule)
		} else {
			c.read(service)
		}
		u.cases = append(u.cases, &c)
	}
	if u.sample && len(u.cases) == 0 {
		c, err := sampleCase(u)
		if err != nil {
			return err
		}
		c.read(service)
		u.cases = append(u.cases, c)
		u.addScaffold(c.file(), c.content)
	}
	return nil
}

// Case writes nothing; it returns what applying the result writes: the draft of a case beside a
// spec, with a record of an event. Without an event it is the first one with Go code, else the
// first one. A case of that name that is there already is an error.
func Case(s Spec, name, event string) (_ *Result, err error) {
	if !proof.IsCaseName(name) {
		return nil, fmt.Errorf("%q is not a valid name of a case: %s", name, proof.CaseRule)
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
	change, err := u.folder.Compare(output.File{Path: c.file(), Policy: output.Scaffold, Data: proof.Of(service).Draft(e)})
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
	c.name, c.content, err = scaffold.SampleCase()
	c.path = u.folder.Show(c.file())
	return &c, err
}

// file is the case's path in the folder of the spec.
func (c *caseFile) file() string { return path.Join(proof.CasesFolder, c.name+".yaml") }

func (c *caseFile) read(s *proof.Service) {
	c.script, c.problems = s.Case(c.path, c.content)
}
