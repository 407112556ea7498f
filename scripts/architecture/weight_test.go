package architecture

import (
	"encoding/json"
	"go/ast"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/internal/house"
)

// sizes are printed by TestWeight, and nothing bounds them: a bound that is raised with each
// change takes nothing away.
var sizes = []struct {
	what string
	now  func(t *testing.T) int
}{
	{"keys of the language", keysOfTheLanguage},
	{"codes of errors", func(t *testing.T) int {
		return distinct(t, `"E[0-9]{3}"`, "../../generator", "../../internal/gen", "../../internal/proof")
	}},
	{"commands", func(t *testing.T) int { return matches(t, `\bRunE:`, production(t, "../../cmd/idemgen")) }},
	{"product lines", func(t *testing.T) int { return linesOf(t, product(t)) }},
	{"proof lines", func(t *testing.T) int {
		return linesOf(t, handwritten(t, "../../runtime", "../../internal", "../../cmd")) - linesOf(t, production(t, "../../runtime", "../../internal", "../../cmd"))
	}},
	{"exported names", exportedNames},
	{"linked lines, without effects", linkedWithout},
	{"linked lines, with effects", linkedWith},
	{"lines of testdata", linesOfTestdata},
	{"words of docs/spec.md", func(t *testing.T) int { return len(strings.Fields(read(t, "../../docs/spec.md"))) }},
	{"words of docs", wordsOfDocs},
}

// go test -v prints what the project weighs.
func TestWeight(t *testing.T) {
	for _, s := range sizes {
		t.Logf("%-30s %7d", s.what, s.now(t))
	}
	lines := map[string]int{}
	for _, file := range product(t) {
		lines[house.Of(strings.TrimPrefix(file, "../../"))] += linesOf(t, []string{file})
	}
	for _, name := range house.Names {
		t.Logf("%-30s %7d", "product lines of "+name, lines[name])
	}
}

func product(t *testing.T) []string {
	return production(t, "../../runtime", "../../internal", "../../generator", "../../schema", "../../cmd", "../../templates")
}

// production are the files of the product: those without what only proves it.
func production(t *testing.T, dirs ...string) []string {
	return slices.DeleteFunc(handwritten(t, dirs...), func(path string) bool { return house.Of(strings.TrimPrefix(path, "../../")) == "" })
}

// handwritten are the Go files that are written by hand and are no tests.
func handwritten(t *testing.T, dirs ...string) (files []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch name := d.Name(); {
			case err != nil:
				return err
			case d.IsDir() && name == "testdata":
				return filepath.SkipDir
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_gen.go"):
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// wordsOfDocs counts the words of README and of all pages but docs/keys.md, which is generated.
func wordsOfDocs(t *testing.T) int {
	words := len(strings.Fields(read(t, "../../README.md")))
	for _, page := range glob(t, "../../docs/*.md") {
		if filepath.Base(page) != "keys.md" {
			words += len(strings.Fields(read(t, page)))
		}
	}
	return words
}

// exportedNames counts what other modules can name: types, functions, variables and constants, and
// the methods of exported types, in all packages that are not internal.
func exportedNames(t *testing.T) (n int) {
	for _, file := range handwritten(t, "../../runtime", "../../generator", "../../schema", "../../templates") {
		if strings.Contains(file, "/internal/") {
			continue
		}
		names := map[string]bool{}
		for _, d := range parse(t, file).Decls {
			exported(d, names)
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			of := f.Recv.List[0].Type
			if star, is := of.(*ast.StarExpr); is {
				of = star.X
			}
			switch generic := of.(type) {
			case *ast.IndexExpr:
				of = generic.X
			case *ast.IndexListExpr:
				of = generic.X
			}
			if of, is := of.(*ast.Ident); is && of.IsExported() {
				n++
			}
		}
		n += len(names)
	}
	return n
}

// keysOfTheLanguage counts the names that a spec may have before a colon, as editors know them.
func keysOfTheLanguage(t *testing.T) int {
	var schema any
	if err := json.Unmarshal([]byte(read(t, "../../schema/idemgen.v1.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, n := range node {
				walk(n)
			}
		case map[string]any:
			properties, _ := node["properties"].(map[string]any)
			for name := range properties {
				keys[name] = true
			}
			for _, n := range node {
				walk(n)
			}
		}
	}
	walk(schema)
	return len(keys)
}

// distinct counts the different texts that match in the production files of folders.
func distinct(t *testing.T, pattern string, dirs ...string) int {
	found := map[string]bool{}
	for _, file := range production(t, dirs...) {
		for _, text := range regexp.MustCompile(pattern).FindAllString(read(t, file), -1) {
			found[text] = true
		}
	}
	return len(found)
}

func matches(t *testing.T, pattern string, files []string) (n int) {
	for _, file := range files {
		n += len(regexp.MustCompile(pattern).FindAllString(read(t, file), -1))
	}
	return n
}

func linkedWithout(t *testing.T) int { return linkedLines(t, "examples/orders", "runtime/confluent") }

func linkedWith(t *testing.T) int {
	return linkedLines(t, "examples/card-charge", "runtime/confluent", "runtime/redislease")
}

// linkedLines are those of ours that a program links which has the first package, that is
// generated and does not count, and others.
func linkedLines(t *testing.T, generated string, others ...string) (lines int) {
	t.Helper()
	all := map[string]pkg{}
	for _, p := range packages(t) {
		all[p.name()] = p
	}
	linked := map[string]bool{}
	for _, name := range append(others, generated) {
		for _, path := range all[name].Deps {
			linked[strings.TrimPrefix(path, module+"/")] = true
		}
		linked[name] = name != generated
	}
	for name, is := range linked {
		p := all[name]
		for _, file := range append(p.GoFiles, p.CgoFiles...) {
			if is {
				lines += linesOf(t, []string{filepath.Join(p.Dir, file)})
			}
		}
	}
	return lines
}

// linesOfTestdata counts all text under testdata, but not what links lead to.
func linesOfTestdata(t *testing.T) (lines int) {
	err := filepath.WalkDir("../../testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			lines += strings.Count(read(t, path), "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
