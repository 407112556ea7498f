package architecture

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	mostNames = 50   // exported names of package idem, which people meet
	mostLines = 1200 // non-test lines of package idem
	fileLines = 400  // of one hand-written file; aim at 300
)

func fileImports(t *testing.T, file string) []string {
	t.Helper()
	return importsOf(t, file, nil)
}

// importsOf are the imports of a file, or of a text that stands for it.
func importsOf(t *testing.T, file string, text any) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	return all
}

// runtimeFiles are the non-test files of package idem.
func runtimeFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../runtime/idem/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	if len(files) == 0 {
		t.Fatal("package idem has no files")
	}
	return files
}

// linesOf counts the lines of files.
func linesOf(t *testing.T, files []string) (lines int) {
	t.Helper()
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(src, []byte("\n"))
	}
	return lines
}

// What people meet of the runtime, package idem, stays small, and README says so; and README says
// how many lines a service links.
func TestFaceOfTheRuntimeStaysSmall(t *testing.T) {
	names, lines := map[string]bool{}, linesOf(t, runtimeFiles(t))
	for _, file := range runtimeFiles(t) {
		for _, d := range parse(t, file).Decls {
			exported(d, names)
		}
	}
	t.Logf("package idem: %d exported names, %d lines", len(names), lines)
	if len(names) > mostNames {
		t.Errorf("package idem has %d exported names, more than %d", len(names), mostNames)
	}
	if lines > mostLines {
		t.Errorf("package idem has %d lines, more than %d", lines, mostLines)
	}
	var without, with int
	readme := strings.Join(strings.Fields(read(t, "../../README.md")), " ")
	_, linked, _ := strings.Cut(readme, "a service links from `runtime/` and `internal/` have ")
	linked = regexp.MustCompile(`(\d),(\d)`).ReplaceAllString(linked, "$1$2") // 29,000
	if _, err := fmt.Sscanf(linked, "at most %d lines without effects, and %d with", &without, &with); err != nil {
		t.Fatalf("README.md does not say what a service links: %v", err)
	}
	for _, w := range []struct {
		what         string
		stated, most int
	}{{"without effects", without, linkedWithout(t)}, {"with effects", with, linkedWith(t)}} {
		if w.most > w.stated || w.most < w.stated-2000 {
			t.Errorf("README.md says that a service %s links at most %d lines; it links %d", w.what, w.stated, w.most)
		}
	}
	if !strings.Contains(readme, fmt.Sprintf("has %d exported names", len(names))) {
		t.Errorf("README.md does not say that package idem has %d exported names", len(names))
	}
}

func exported(d ast.Decl, names map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			names[d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					names[s.Name.Name] = true
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						names[n.Name] = true
					}
				}
			}
		}
	}
}

func TestFilesStayReadable(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (strings.HasPrefix(name, ".") && len(name) > 2 || name == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_gen_test.go") {
			return nil
		}
		for _, banned := range []string{"util", "utils", "helper", "helpers", "common", "misc"} {
			if strings.TrimSuffix(name, ".go") == banned || filepath.Base(filepath.Dir(path)) == banned {
				t.Errorf("%s: name the concept", path)
			}
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(src, []byte("\n")); n > fileLines {
			t.Errorf("%s has %d lines: is it one concept?", path, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
