package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// verbFiles is the one file of each stage that knows a verb of the spec; %s is the verb.
var verbFiles = []string{"internal/gen/syntax/verbs.go", "internal/gen/resolve/%s.go", "internal/gen/sqlcode/%s.go", "internal/proof/oracle/%s.go"}

// A new verb is one file per stage. So no other file names a verb: whoever asks what a step does
// reads model.Facts. docs/design.md has the table.
func TestAVerbIsNamedInOneFilePerStage(t *testing.T) {
	names := map[string][]string{} // verb -> files with it as a whole string
	verbs := builtVerbs(t)
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(name, "scripts/") {
			continue // not a stage
		}
		if name != "internal/gen/syntax" && !slices.Contains(p.Imports, module+"/internal/gen/model") && !slices.Contains(p.Imports, module+"/internal/gen/syntax") {
			continue // it knows of no steps
		}
		for _, file := range p.GoFiles {
			for _, text := range stringsIn(t, filepath.Join(p.Dir, file)) {
				if at := name + "/" + file; slices.Contains(verbs, text) && !slices.Contains(names[text], at) {
					names[text] = append(names[text], at)
				}
			}
		}
	}
	design := read(t, "../../docs/design.md")
	for _, verb := range verbs {
		var want []string
		for _, file := range verbFiles {
			want = append(want, strings.ReplaceAll(file, "%s", verb))
		}
		slices.Sort(want)
		slices.Sort(names[verb])
		if !slices.Equal(names[verb], want) {
			t.Errorf("%q is named in %v, want %v", verb, names[verb], want)
		}
	}
	for _, file := range verbFiles {
		if shown := "`" + strings.ReplaceAll(file, "%s", "<verb>") + "`"; !strings.Contains(design, shown) {
			t.Errorf("the table of verbs in docs/design.md lacks %s", shown)
		}
	}
}

// The oracle must be able to find the generator's facts wrong, so it does not read them.
func TestTheOracleReadsNoFacts(t *testing.T) {
	facts := map[string]bool{"Facts": true}
	file := parse(t, "../../internal/gen/model/facts.go")
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			facts[d.Name.Name] = d.Recv != nil
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if typ, ok := s.(*ast.TypeSpec); ok && typ.Name.Name == "Facts" {
					for _, f := range typ.Type.(*ast.StructType).Fields.List {
						for _, name := range f.Names {
							facts[name.Name] = true
						}
					}
				}
			}
		}
	}
	if !facts["Makes"] || !facts["Whole"] || !facts["OnlyMakes"] {
		t.Fatalf("facts found: %v", facts)
	}
	for _, file := range nonTestFiles(t, "../../internal/proof/oracle") {
		ast.Inspect(parse(t, file), func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && facts[sel.Sel.Name] {
				t.Errorf("%s reads %s, which the generators go by", file, sel.Sel.Name)
			}
			return true
		})
	}
}

// builtVerbs are the verbs of internal/gen/syntax/verbs.go, the first text of each line of its
// stepTables.
func builtVerbs(t *testing.T) (verbs []string) {
	t.Helper()
	ast.Inspect(parse(t, "../../internal/gen/syntax/verbs.go"), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "stepTables" {
			return true
		}
		for _, line := range spec.Values[0].(*ast.CompositeLit).Elts {
			verbs = append(verbs, text(t, line.(*ast.CompositeLit).Elts[0].(*ast.BasicLit)))
		}
		return false
	})
	if len(verbs) < 4 {
		t.Fatalf("internal/gen/syntax/verbs.go has the verbs %q only", verbs)
	}
	return verbs
}

// stringsIn are the strings in a file's code.
func stringsIn(t *testing.T, file string) (all []string) {
	t.Helper()
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			all = append(all, text(t, lit))
		}
		return true
	})
	return all
}

func text(t *testing.T, lit *ast.BasicLit) string {
	t.Helper()
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parsedFiles has the positions of parsed, the files that a test has parsed, by path.
var (
	parsedFiles = token.NewFileSet()
	parsed      = map[string]*ast.File{}
)

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	if path, err := filepath.Abs(file); err == nil {
		file = path
	}
	if parsed[file] == nil {
		f, err := parser.ParseFile(parsedFiles, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed[file] = f
	}
	return parsed[file]
}

func nonTestFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
	if len(files) == 0 {
		t.Fatalf("%s has no files", dir)
	}
	return files
}
