package architecture

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/gen/typecheck"
	"github.com/idemgen/idemgen/internal/proof/cases"
	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// reference are the pages that have the rules of the language.
var reference = []string{"spec.md", "keys.md", "topics.md", "encodings.md", "tables.md", "deadletters.md", "effects.md", "cases.md"}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

var yamlBlock = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$")

// outdented is a block without what all its lines are indented by.
func outdented(block string) string {
	indent := len(block) - len(strings.TrimLeft(block, " "))
	return strings.ReplaceAll("\n"+block, "\n"+strings.Repeat(" ", indent), "\n")[1:]
}

// A spec in the documentation is one that idemgen accepts. Blocks that are fragments do not
// begin with version, but for one in keys.md, whose lines are of specs that are held here.
func TestDocumentedSpecsAreAccepted(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md") {
		specs := 0
		for _, block := range yamlBlock.FindAllStringSubmatch(read(t, file), -1) {
			if spec := outdented(block[1]); strings.HasPrefix(spec, "version:") && filepath.Base(file) != "keys.md" {
				specs++
				accepted(t, file, []byte(spec))
			}
		}
		if base := filepath.Base(file); specs == 0 && (base == "README.md" || base == "spec.md") {
			t.Errorf("%s shows no spec", file)
		}
	}
}

func accepted(t *testing.T, file string, spec []byte) {
	t.Helper()
	parsed, problems := syntax.Load(filepath.Base(file), spec)
	service, more := resolve.Resolve(parsed)
	problems.Append(more)
	if problems.Errors() == 0 && service != nil {
		return
	}
	var text strings.Builder
	if err := problems.Print(&text, file, spec); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s shows a spec that is refused:\n%s", file, text.String())
}

var (
	code        = regexp.MustCompile(`\b[EW][0-9]{3}\b`)
	codeLiteral = regexp.MustCompile(`"([EW][0-9]{3})"`)
)

// reported are the codes that the sources of the generator report.
func reported(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, dir := range []string{"../../generator", "../../internal/gen", "../../internal/proof"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, m := range codeLiteral.FindAllStringSubmatch(read(t, path), -1) {
				found[m[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// The reference names the codes that there are: none that was planned or is gone, and none
// is left out.
func TestReferenceNamesTheCodes(t *testing.T) {
	known, named := reported(t), map[string]bool{}
	for _, page := range reference {
		for _, c := range code.FindAllString(read(t, "../../docs/"+page), -1) {
			if named[c] = true; !known[c] {
				t.Errorf("docs/%s names %s, which nothing reports", page, c)
			}
		}
	}
	for c := range known {
		if !named[c] {
			t.Errorf("none of %v in docs names %s", reference, c)
		}
	}
}

// Each case in the documentation is one of the spec behind it.
func TestTheDocumentedCasesAreAccepted(t *testing.T) {
	blocks := yamlBlock.FindAllStringSubmatch(read(t, "../../docs/cases.md"), -1)
	last := []string{"Refunded", "UserCreated"}
	if len(blocks) != 2*len(last) {
		t.Fatalf("docs/cases.md shows %d blocks of YAML", len(blocks))
	}
	for i, want := range last {
		spec, problems := syntax.Load("idemgen.yaml", []byte(blocks[2*i+1][1]))
		service, more := resolve.Resolve(spec)
		problems.Append(more)
		parsed, more := syntax.LoadCase("case.yaml", []byte(blocks[2*i][1]))
		problems.Append(more)
		if problems.Errors() > 0 || service == nil {
			t.Fatal(problems.Sorted())
		}
		got, more := cases.Resolve(service, oracle.New(service), parsed)
		if more.Errors() > 0 || len(got.Records) == 0 || got.Records[len(got.Records)-1].Event != want {
			t.Errorf("%+v %v", got, more.Sorted())
		}
	}
}

var (
	testName = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	testFunc = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	quoted   = regexp.MustCompile(`"([^"]+)"`)
)

// Every promise names tests that exist, and scenarios that generated tests play.
func TestPromisesNameTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
			tests[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	scenarios := read(t, "../../runtime/idemtest/scenario.go")
	page, shownBy, _ := strings.Cut(read(t, "../../docs/guarantees.md"), "\n## Which test shows it\n")
	row := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`)
	promises := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(page, -1) {
		promises[m[1]] = true
	}
	for _, m := range row.FindAllStringSubmatch(shownBy, -1) {
		promise, shown := m[1], m[2]
		if !promises[promise] {
			t.Errorf("docs/guarantees.md has no promise %s, or two lists of tests of it", promise)
		}
		delete(promises, promise)
		names := testName.FindAllStringSubmatch(shown, -1)
		if len(names) == 0 && !strings.Contains(shown, "`make e2e`") {
			t.Errorf("docs/guarantees.md names no test of promise %s", promise)
		}
		for _, m := range names {
			if !tests[m[1]] {
				t.Errorf("docs/guarantees.md names %s, which does not exist", m[1])
			}
		}
		for _, m := range quoted.FindAllStringSubmatch(shown, -1) {
			if !strings.Contains(scenarios, `{"`+m[1]+`", `) {
				t.Errorf("docs/guarantees.md names scenario %q, which does not exist", m[1])
			}
		}
	}
	for promise := range promises {
		t.Errorf("docs/guarantees.md names no test of promise %s", promise)
	}
}

// A comment that names a document of another place tells its reader nothing.
func TestCommentsNameDocumentsOfTheRepository(t *testing.T) {
	named := regexp.MustCompile(`\b[A-Z]{4,}(\.md\b| section [0-9])`)
	handWritten(t, func(path string) {
		for _, found := range named.FindAllString(read(t, path), -1) {
			if found != "README.md" {
				t.Errorf("%s names %s", path, found)
			}
		}
	})
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```$")

// A Go program in the documentation compiles.
func TestDocumentedProgramsCompile(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	programs, imports := map[string]string{}, map[string]bool{}
	for _, file := range files {
		for i, block := range goBlock.FindAllStringSubmatch(read(t, file), -1) {
			name := fmt.Sprintf("%s, program %d", file, i+1)
			programs[name] = block[1]
			for _, path := range importsOf(t, name, block[1]) {
				imports[path] = true
			}
		}
	}
	if len(programs) == 0 {
		t.Fatal("no program was found")
	}
	compiled, err := typecheck.New(t.Context(), ".", slices.Sorted(maps.Keys(imports))...)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range programs {
		if err := compiled.Check("main", []typecheck.File{{Name: name, Content: []byte(text)}}); err != nil {
			t.Error(err)
		}
	}
}
