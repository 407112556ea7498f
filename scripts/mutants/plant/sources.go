package plant

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Sources are the files of a module, without its tests. They are read once.
type Sources struct {
	root string

	mu    sync.Mutex
	files map[string]*file   // by path below root
	dirs  map[string][]*file // of a directory and those below it
}

// file is a source file.
type file struct {
	path string // below root
	src  []byte
	set  *token.FileSet // nil of a file that is not Go
	all  []declaration
}

// declaration is something that has a name in a file.
type declaration struct {
	file     *file
	name     string
	node     ast.Node // of its contents; nil in a file that is not Go
	from, to int
}

// Read returns the sources of the module in root.
func Read(root string) *Sources {
	return &Sources{root: root, files: map[string]*file{}, dirs: map[string][]*file{}}
}

// in returns the files in dir and below it.
func (s *Sources) in(dir string) ([]*file, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if files, ok := s.dirs[dir]; ok {
		return files, nil
	}
	var files []*file
	top := filepath.Join(s.root, dir)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sql":
			return nil
		}
		f, err := s.file(path)
		files = append(files, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.dirs[dir] = files
	return files, nil
}

// file reads a file once.
func (s *Sources) file(path string) (*file, error) {
	below, err := filepath.Rel(s.root, path)
	if err != nil {
		return nil, err
	}
	if f := s.files[below]; f != nil {
		return f, nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := newFile(below, src)
	s.files[below] = f
	return f, err
}

func newFile(path string, src []byte) (*file, error) {
	f := &file{path: path, src: src}
	if filepath.Ext(path) != ".go" {
		f.all = f.created()
		return f, nil
	}
	f.set = token.NewFileSet()
	syntax, err := parser.ParseFile(f.set, path, src, parser.SkipObjectResolution)
	if err == nil {
		f.all = f.declared(syntax)
	}
	return f, err
}

// Source is a file that was read, by its path below the module's root.
func (s *Sources) Source(path string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[path].src
}

// offset is where a position of the file's syntax is in its text.
func (f *file) offset(p token.Pos) int { return f.set.Position(p).Offset }

// line is the number of the line of an offset.
func (f *file) line(offset int) int { return 1 + strings.Count(string(f.src[:offset]), "\n") }

// declared are the declarations of a Go file, in its order.
func (f *file) declared(syntax *ast.File) []declaration {
	var list []declaration
	add := func(name string, outer, inner ast.Node) {
		list = append(list, declaration{f, name, inner, f.offset(outer.Pos()), f.offset(outer.End())})
	}
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				add(functionName(d), d, d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					add(s.Names[0].Name, s, s)
				case *ast.TypeSpec:
					add(s.Name.Name, s, s)
				}
			}
		}
	}
	return list
}

// functionName is Name of a function and Type.Name of a method.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		default:
			return fmt.Sprint(t) + "." + d.Name.Name
		}
	}
}

// created matches the head of a statement in a file of SQL, and the name of what it makes.
var created = regexp.MustCompile(`(?m)^(?:CREATE (?:OR REPLACE )?(?:UNIQUE )?(?:TABLE|FUNCTION|INDEX|VIEW) (?:IF NOT EXISTS )?(\w+)|ALTER |DO |INSERT )`)

// created are what the statements of a file of SQL make.
func (f *file) created() []declaration {
	heads := created.FindAllSubmatchIndex(f.src, -1)
	var list []declaration
	for i, h := range heads {
		end := len(f.src)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		if h[2] >= 0 {
			list = append(list, declaration{f, string(f.src[h[2]:h[3]]), nil, h[0], end})
		}
	}
	return list
}
