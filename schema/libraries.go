package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Files are those around a spec. Names are slash-separated, and relative to its folder.
type Files interface {
	Read(name string) ([]byte, error) // fs.ErrNotExist if there is none
	Abs(name string) string           // one path for one file
	Show(name string) string          // for messages
}

// Libraries are the files that specs import. Each is read once, so all specs have the same one.
// The zero value is empty and ready.
type Libraries struct {
	byPath map[string]*library
}

// library is a file that is imported, or that is loaded as one.
type library struct {
	spec     *Spec
	content  []byte
	problems Diagnostics // its own
	open     bool        // its imports are being read
}

// Load reads a spec as [Load] does, and what it imports. If the file is a library, its places name
// it: other specs may import it. The error is about a file that cannot be read.
func (l *Libraries) Load(file string, data []byte, files Files) (*Spec, Diagnostics, error) {
	s, ds := Load(file, data)
	if !s.Library {
		return s, ds, l.imports(s, files, ".", &ds)
	}
	at := files.Abs(path.Base(file))
	if l.byPath[at] == nil {
		l.add(at, file, data)
	}
	var all Diagnostics
	err := l.follow(at, files, path.Base(file), &all)
	return l.byPath[at].spec, all, err
}

// Content is that of a library, by the path that its places name.
func (l *Libraries) Content(file string) []byte {
	for _, lib := range l.byPath {
		if lib.spec.File == file {
			return lib.content
		}
	}
	return nil
}

func (l *Libraries) add(at, file string, data []byte) {
	if l.byPath == nil {
		l.byPath = map[string]*library{}
	}
	lib := &library{content: data}
	lib.spec, lib.problems = LoadLibrary(file, data)
	l.byPath[at] = lib
}

// imports reads what a spec imports; dir is its folder, relative to that of files.
func (l *Libraries) imports(s *Spec, files Files, dir string, ds *Diagnostics) error {
	var errs []error
	for _, i := range s.Imports {
		i.Refused = true
		if i.Path == nil {
			continue
		}
		name := path.Join(dir, i.Path.Value)
		at := files.Abs(name)
		if l.byPath[at] == nil {
			data, err := files.Read(name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				ds.Add(i.Path.Pos, "E210", i.what()+"no such file "+quote(i.Path.Value), "the path is relative to this "+s.kind())
				continue
			case err != nil:
				errs = append(errs, fmt.Errorf("%s:%d: import %q: %w", s.File, i.Path.Pos.Line, i.Alias.Value, err))
				continue
			}
			l.add(at, files.Show(name), data)
		}
		lib := l.byPath[at]
		switch {
		case lib.open:
			ds.Add(i.Path.Pos, "E811", i.what()+lib.spec.File+" imports itself", "put what both files need into a third one")
		case lib.spec.Consumer != nil:
			ds.Add(i.Path.Pos, "E210", i.what()+quote(i.Path.Value)+" is the spec of a service", "import a library: a file without consumer and topics")
		default:
			i.Library, i.Refused = lib.spec, false
			errs = append(errs, l.follow(at, files, name, ds))
		}
	}
	return errors.Join(errs...)
}

// follow reads what a library imports, and adds the problems of all of it.
func (l *Libraries) follow(at string, files Files, name string, ds *Diagnostics) error {
	lib := l.byPath[at]
	ds.Append(lib.problems)
	lib.open = true
	defer func() { lib.open = false }()
	return l.imports(lib.spec, files, path.Dir(name), ds)
}

func (i *Import) what() string { return "import " + quote(i.Alias.Value) + ": " }

func (s *Spec) kind() string {
	if s.Library {
		return "library"
	}
	return "spec"
}
