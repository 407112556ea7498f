package generator

import (
	"errors"
	"path"
	"slices"

	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/schema"
)

// read reads the specs and what they import, then turns each into a model, or into problems.
func read(units []*unit) error {
	libraries := &schema.Libraries{}
	var errs []error
	for _, u := range units {
		var err error
		u.libraries = libraries
		u.parsed, u.problems, err = libraries.Load(u.Path, u.Content, u.folder)
		errs = append(errs, err)
	}
	specs := make([]*schema.Spec, len(units))
	for i, u := range units {
		specs[i] = u.parsed
	}
	services, problems := resolve.All(specs)
	for i, u := range units {
		errs = append(errs, u.take(services[i], problems[i]))
	}
	return errors.Join(errs...)
}

// inFile are the problems of one file.
type inFile struct {
	path     string
	content  []byte
	problems schema.Diagnostics
}

// inFiles sorts the problems of the specs by the files in which they are: each spec, then the
// libraries that no spec before had a problem in, then its cases. A problem of a library counts
// once.
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
		add(u.Path, u.Content, u.problems.In(""))
		for _, file := range u.problems.Files() {
			add(file, u.libraries.Content(file), u.problems.In(file))
		}
		for _, c := range u.cases {
			add(c.path, c.content, c.problems)
		}
	}
	return all
}
