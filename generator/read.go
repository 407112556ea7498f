package generator

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

// read reads the specs, then turns each into a model, or into problems.
func read(units []*unit) error {
	var errs []error
	for _, u := range units {
		var service *model.Service
		u.schemas = proof.Files{}
		u.parsed, service, u.problems = u.resolve(u.schemas)
		errs = append(errs, u.take(service))
	}
	return errors.Join(errs...)
}

// resolve turns a spec into a model, with the schemas that it names, or into problems.
func (s Spec) resolve(schemas proof.Files) (*syntax.Spec, *model.Service, syntax.Diagnostics) {
	file := s.File
	if file == nil {
		file = func(name string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(filepath.FromSlash(s.Path)), filepath.FromSlash(name)))
		}
	}
	parsed, problems := syntax.Load(s.Path, s.Content)
	read, unread := messages.Read(parsed, schemas.Reader(file))
	service, more := resolve.Resolve(parsed)
	problems.Append(unread)
	if problems.Append(more); problems.Errors() == 0 {
		problems.Append(read.Attach(service))
	}
	return parsed, service, problems
}

// inFile are the problems of one file.
type inFile struct {
	path     string
	content  []byte
	problems syntax.Diagnostics
}

// inFiles are the problems of specs and their cases, by file.
func inFiles(units []*unit) []*inFile {
	var all []*inFile
	add := func(file string, content []byte, problems syntax.Diagnostics) {
		i := slices.IndexFunc(all, func(f *inFile) bool { return path.Clean(f.path) == path.Clean(file) })
		if i < 0 {
			i = len(all)
			all = append(all, &inFile{path: file, content: content})
		}
		all[i].problems.Append(problems)
	}
	for _, u := range units {
		add(u.Path, u.Content, u.problems)
		for _, c := range u.cases {
			add(c.path, c.content, c.problems)
		}
	}
	return all
}
