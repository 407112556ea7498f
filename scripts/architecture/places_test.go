package architecture

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pagesOfPlaces say where something is in the code.
var pagesOfPlaces = []string{"../../docs/design.md", "../../docs/protocol.md"}

// bases are the folders below which a page names files and packages.
var bases = []string{"", "runtime/", "runtime/internal/", "internal/", "testdata/golden/"}

// names are what a file or a folder declares: functions, types, variables and constants by name,
// methods and fields as Type.Name.
type names map[string]bool

// has reports whether a name is declared, for a method or a field with or without its type.
func (n names) has(name string) bool {
	if n[name] {
		return true
	}
	for declared := range n {
		if strings.HasSuffix(declared, "."+name) {
			return true
		}
	}
	return false
}

// declares adds what a file declares.
func (n names) declares(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			n[name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				n.declaresSpec(spec)
			}
		}
	}
}

func (n names) declaresSpec(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			n[name.Name] = true
		}
	case *ast.TypeSpec:
		n[s.Name.Name] = true
		members := &ast.FieldList{}
		switch of := s.Type.(type) {
		case *ast.StructType:
			members = of.Fields
		case *ast.InterfaceType:
			members = of.Methods
		}
		for _, m := range members.List {
			for _, name := range m.Names {
				n[s.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// declared are the names of each Go file of the repository, tests included, and of each folder.
func declared(t *testing.T) map[string]names {
	t.Helper()
	places := map[string]names{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		path = filepath.ToSlash(path)
		file, dir := parse(t, path), filepath.ToSlash(filepath.Dir(path))
		if places[dir] == nil {
			places[dir] = names{}
		}
		places[path] = names{}
		places[path].declares(file)
		places[dir].declares(file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return places
}

// place is the path from here of what a page names; "" if there is none.
func place(name string) string {
	for _, base := range bases {
		path := filepath.ToSlash(filepath.Join("../..", base, name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// units are the rows of the tables of a text, and its paragraphs, each as one line.
func units(text string) (all []string) {
	inCode, open := false, false
	for _, line := range strings.Split(text, "\n") {
		fence := strings.HasPrefix(line, "```")
		if fence {
			inCode = !inCode
		}
		switch {
		case fence || inCode || strings.TrimSpace(line) == "":
			open = false
		case open && !strings.HasPrefix(line, "|"):
			all[len(all)-1] += " " + strings.TrimSpace(line)
		default:
			all, open = append(all, line), !strings.HasPrefix(line, "|")
		}
	}
	return all
}

var (
	span     = regexp.MustCompile("`([^`]+)`(: `([A-Za-z_.]+)`)?")
	goFile   = regexp.MustCompile(`^[a-z0-9_<>]+\.go$`)
	pathName = regexp.MustCompile(`^[a-z0-9_.<>]+(/[a-z0-9_.<>]*)+$`)
	typeName = regexp.MustCompile(`^([a-z]+\.)?[A-Z][A-Za-z]*(\.[A-Za-z]+)?$`)
)

// page is a text of documentation, and what its names may mean.
type page struct {
	text   string
	verbs  []string                 // what <verb> in a path means
	exists func(path string) string // the path from here; "" if it does not exist
	places map[string]names         // by that path
	wrong  []string                 // the names that name nothing
	right  int                      // how many others there are
}

// check looks for each place that the text names: files and folders, the files beside one of
// them by their last part; `path`: `name`; pkg.Name, Type.Name and Name.
func (p *page) check() {
	for _, unit := range units(p.text) {
		folder := ""
		for _, m := range span.FindAllStringSubmatch(unit, -1) {
			name, member := m[1], m[3]
			switch {
			case goFile.MatchString(name):
				name = path.Join(folder, name)
				p.checkPath(name)
			case pathName.MatchString(name):
				p.checkPath(name)
				if folder = name; path.Ext(name) != "" {
					folder = path.Dir(name)
				}
			case typeName.MatchString(name):
				p.found(p.declares(name), name)
			}
			if member != "" {
				p.found(p.places[p.exists(name)].has(member), m[0])
			}
		}
	}
}

func (p *page) found(ok bool, text string) {
	if ok {
		p.right++
	} else {
		p.wrong = append(p.wrong, text)
	}
}

func (p *page) checkPath(name string) {
	for _, verb := range p.verbs {
		if file := strings.ReplaceAll(name, "<verb>", verb); file == name || p.exists(file) == "" {
			p.found(p.exists(file) != "", file)
			return
		}
	}
	p.found(true, name)
}

// declares reports whether a name is declared anywhere; one with its package, there.
func (p *page) declares(name string) bool {
	pkg, rest, _ := strings.Cut(name, ".")
	qualified := strings.ToLower(pkg) == pkg
	for at, n := range p.places {
		if qualified && path.Base(at) == pkg && n[rest] || !qualified && n.has(name) {
			return true
		}
	}
	return false
}

// Each file, folder, function and type that the pages name is where they say.
func TestPagesNamePlacesThatExist(t *testing.T) {
	places, verbs := declared(t), builtVerbs(t)
	for _, file := range pagesOfPlaces {
		p := page{text: read(t, file), verbs: verbs, exists: place, places: places}
		p.check()
		for _, w := range p.wrong {
			t.Errorf("%s names %s, which does not exist", file, w)
		}
		if p.right < 5 {
			t.Errorf("%s names %d places only: are they found?", file, p.right)
		}
	}
}

func TestPlacesOfAPage(t *testing.T) {
	places := map[string]names{
		"a/b": {"Open": true, "Door.Lock": true, "run": true}, "a/b/door.go": {"Door.Lock": true}, "a/b/upsert.go": {},
	}
	exists := func(path string) string {
		if places[path] == nil {
			return ""
		}
		return path
	}
	for text, wrong := range map[string]int{
		"`a/b`, `a/b/door.go` and `door.go`":  0,
		"`door.go`":                           1, // beside nothing
		"`a/b/door.go`\n\n`door.go`":          1,
		"`a/c`, `a/b/window.go`":              2,
		"`a/b/<verb>.go`":                     1, // no delete.go
		"`a/b`: `run`, `a/b/door.go`: `Lock`": 0,
		"`a/b`: `walk`, `a/b/door.go`: `run`": 2,
		"`b.Open`, `Door.Lock`, `Open`":       0,
		"`b.Shut`, `Door.Open`, `Shut`":       3,
		"`upsert`, `SELECT 1`, `spec.key`":    0,
		"```\n`a/c`\n```":                     0,
	} {
		p := page{text: text, verbs: []string{"upsert", "delete"}, exists: exists, places: places}
		if p.check(); len(p.wrong) != wrong {
			t.Errorf("%s: %q", text, p.wrong)
		}
	}
}

// Every package of the runtime has its place on the page, by its own name.
func TestDesignNamesEveryPackageOfTheRuntime(t *testing.T) {
	text := read(t, pagesOfPlaces[0])
	for _, p := range packages(t) {
		name, inRuntime := strings.CutPrefix(p.name(), "runtime/")
		if !inRuntime || strings.HasPrefix(name, "idemtest/") {
			continue
		}
		short := name[strings.LastIndex(name, "/")+1:]
		if !strings.Contains(text, "`"+short+"`") && !strings.Contains(text, "/"+short+"`") && !strings.Contains(text, "\n"+p.name()+" ") {
			t.Errorf("docs/design.md does not name %s", p.name())
		}
	}
}
