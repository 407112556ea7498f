package generator

import (
	"errors"
	"path"
	"slices"

	"github.com/idemgen/idemgen/generator/messages"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/schema"
)

// read reads the specs, then turns each into a model, or into problems.
func read(units []*unit) error {
	var errs []error
	for _, u := range units {
		u.parsed, u.problems = schema.Load(u.Path, u.Content)
		read, unread := messages.Read(u.parsed, u.folder.Read)
		service, problems := resolve.Resolve(u.parsed)
		problems.Append(unread)
		if service != nil && problems.Errors() == 0 {
			problems.Append(read.Attach(service))
		}
		errs = append(errs, u.take(service, problems))
	}
	return errors.Join(errs...)
}

// inFile are the problems of one file.
type inFile struct {
	path     string
	content  []byte
	problems schema.Diagnostics
}

// inFiles are the problems of specs and their cases, by file.
func inFiles(units []*unit) []*inFile {
	var all []*inFile
	add := func(file string, content []byte, problems schema.Diagnostics) {
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
