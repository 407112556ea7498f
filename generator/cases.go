package generator

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// caseFile is a case of a spec.
type caseFile struct {
	name     string // without the ending
	path     string // as messages show it
	content  []byte
	problems syntax.Diagnostics
	script   proof.Script
}

// readCases reads the cases of the spec.
func (s *source) readCases() error {
	entries, err := s.folder.List(proof.CasesFolder)
	if err != nil {
		return err
	}
	service := proof.Of(s.service)
	for _, entry := range entries {
		name, wrong := proof.CaseName(entry)
		if name == "" {
			continue
		}
		file := path.Join(proof.CasesFolder, entry.Name())
		c := &caseFile{name: name, path: s.folder.Show(file)}
		if c.content, err = s.folder.Read(file); err != nil {
			return err
		}
		if wrong != nil {
			c.problems.Add(syntax.Pos{Line: 1, Col: 1, Width: 1}, "E201", wrong.Error(), proof.CaseRule)
		} else {
			c.script, c.problems = service.Case(c.path, c.content)
		}
		s.cases = append(s.cases, c)
	}
	return nil
}

// Case drafts a case for a spec, with a record of an event. Like Generate it writes nothing; Apply
// of the result does. If event is "", it uses the first event with Go code or, if there is none,
// the first event. It is an error if a case of that name already exists.
func Case(s Spec, name, event string) (_ *Result, err error) {
	if !proof.IsCaseName(name) {
		return nil, fmt.Errorf("%q is not a valid name of a case: %s", name, proof.CaseRule)
	}
	read, err := readInOrder(s)
	if err != nil {
		return nil, err
	}
	e, err := eventFor(read.service, event)
	if err != nil {
		return nil, err
	}
	folder, err := output.Open(filepath.FromSlash(path.Dir(s.Path)))
	if err != nil {
		return nil, err
	}
	change, err := folder.Compare(output.File{Path: casePath(name), Policy: output.Scaffold, Data: proof.Of(read.service).Draft(e)})
	if err == nil && change.Op == "" {
		err = fmt.Errorf("%s exists: idemgen case never replaces a file", change.Path)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	result := &Result{Changes: []output.Change{change}, folders: []*output.Folder{folder}}
	for _, f := range editorFiles() { // which the draft names
		change, err := folder.Compare(f)
		if err != nil {
			return nil, errors.Join(err, folder.Close())
		}
		if change.Op != "" {
			result.Changes = append(result.Changes, change)
		}
	}
	return result, nil
}

// eventFor returns the event for a draft.
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
		return nil, syntax.Unknown(s.Source, "event", name, names)
	}
	return found, nil
}

// casePath returns the path of a case, relative to the folder of the spec.
func casePath(name string) string { return path.Join(proof.CasesFolder, name+".yaml") }
