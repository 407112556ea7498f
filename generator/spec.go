package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// source is a spec with the files that belong to it, as they are read.
type source struct {
	Spec
	folder   *output.Folder
	parsed   *syntax.Spec
	schemas  proof.Files // that the spec names
	cases    []*caseFile
	problems syntax.Diagnostics
	service  *model.Service // nil if the spec is not in order
}

// read reads a spec, the files that it names, and its cases.
func read(spec Spec) (*source, error) {
	folder, err := output.Open(filepath.FromSlash(path.Dir(spec.Path)))
	if err != nil {
		return nil, err
	}
	s := &source{Spec: spec, folder: folder, schemas: proof.Files{}}
	if s.parsed, s.service, s.problems = spec.resolve(s.schemas); s.service == nil {
		return s, nil
	}
	return s, errors.Join(s.checkExamples(), s.readCases())
}

// resolve turns a spec into a model, with the schemas that it names, or into problems.
func (s Spec) resolve(schemas proof.Files) (*syntax.Spec, *model.Service, syntax.Diagnostics) {
	file := s.File
	if file == nil {
		file = s.fromDisk
	}
	return resolve.Read(s.Path, s.Content, messages.Schemas(schemas.Reader(file)))
}

// fromDisk reads a file by its path from the spec.
func (s Spec) fromDisk(name string) ([]byte, error) {
	folder, err := output.Open(filepath.FromSlash(path.Dir(s.Path)))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return folder.Read(name)
}

// checkExamples reads the sample records. Each must decode (E114).
func (s *source) checkExamples() error {
	if s.service.Examples == "" {
		return nil
	}
	at := s.parsed.Examples.Pos
	data, err := s.folder.Read(s.service.Examples)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.problems.Add(at, "E114", fmt.Sprintf("examples: no such file %q", s.service.Examples), "the path is relative to this spec")
		return nil
	case err != nil:
		return err
	}
	for _, bad := range proof.Of(s.service).CheckExamples(data) {
		s.problems.Add(at, "E114", bad.Error(), syntax.DidYouMean(bad.Unknown, bad.Known))
	}
	return nil
}

// readInOrder reads a spec and its cases, which must be in order.
func readInOrder(spec Spec) (*source, error) {
	s, err := read(spec)
	if s != nil {
		err = errors.Join(err, s.folder.Close())
	}
	if err != nil {
		return nil, err
	}
	if s.service == nil {
		return nil, fmt.Errorf("%s has errors: run idemgen check", spec.Path)
	}
	s.service.Source = spec.Path
	return s, nil
}

// apart refuses a second service in a folder: a folder is one Go package.
func apart(sources []*source) {
	first := map[string]*source{}
	for _, s := range sources {
		dir := s.folder.Abs(".")
		if other := first[dir]; other != nil {
			at := syntax.Pos{Line: 1, Col: 1, Width: 1}
			if s.parsed.Consumer != nil {
				at = s.parsed.Consumer.Pos
			}
			s.problems.Add(at, "E812", fmt.Sprintf("%q is also a service spec in this folder", path.Base(other.Path)),
				"a folder is one Go package: give each spec a folder of its own")
			continue
		}
		first[dir] = s
	}
}

// inFile are the problems of one file.
type inFile struct {
	path     string
	content  []byte
	problems syntax.Diagnostics
}

// inFiles are the problems of specs and their cases, by file.
func inFiles(sources []*source) []*inFile {
	var all []*inFile
	add := func(file string, content []byte, problems syntax.Diagnostics) {
		i := slices.IndexFunc(all, func(f *inFile) bool { return path.Clean(f.path) == path.Clean(file) })
		if i < 0 {
			i = len(all)
			all = append(all, &inFile{path: file, content: content})
		}
		all[i].problems.Append(problems)
	}
	for _, s := range sources {
		add(s.Path, s.Content, s.problems)
		for _, c := range s.cases {
			add(c.path, c.content, c.problems)
		}
	}
	return all
}
