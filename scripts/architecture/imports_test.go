package architecture

import (
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/idemgen/idemgen"

// pkg is what the go command tells of one package.
type pkg struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestImports  []string
	XTestImports []string
	GoFiles      []string
	Deps         []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,Deps", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 15 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

// may says what each package of the module may import of the module. A package that is not
// listed, nor below a listed one with /..., fails the test: think about its place first.
var may = map[string][]string{
	"cmd/idemgen":                          {"generator", "generator/output", "generator/scaffold", "schema", "runtime/stream"},
	"generator":                            {"generator/resolve", "generator/model", "generator/gocode", "generator/sqlcode", "generator/scaffold", "generator/oracle", "generator/seedlog", "generator/state", "generator/output", "generator/gopkg", "schema"},
	"generator/model":                      {},
	"generator/definition":                 {"generator/model"},
	"generator/resolve":                    {"generator/model", "generator/definition", "schema"},
	"generator/gocode":                     {"generator/model"},
	"generator/gocode/generated":           {}, // tests only: they run golden packages
	"generator/sqlcode":                    {"generator/model", "templates"},
	"generator/scaffold":                   {"generator/model", "templates"},
	"generator/oracle":                     {"generator/model"},
	"generator/seedlog":                    {"generator/model"},
	"generator/state":                      {"generator/model", "generator/definition", "schema"},
	"generator/output":                     {},
	"generator/gopkg":                      {},
	"schema":                               {},
	"templates":                            {},
	"runtime":                              {"runtime/halt", "runtime/idemtype", "runtime/wire", "runtime/internal/catalog", "runtime/internal/copies", "runtime/internal/fault", "runtime/internal/footprint", "runtime/internal/frequency", "runtime/internal/generation", "runtime/internal/keyset", "runtime/internal/lag", "runtime/internal/ledger", "runtime/internal/maintain", "runtime/internal/outage", "runtime/internal/pgerror", "runtime/internal/protocol", "runtime/internal/recent", "runtime/internal/session", "runtime/internal/watchdog"},
	"runtime/wire":                         {},
	"runtime/halt":                         {},
	"runtime/idemtype":                     {"runtime/halt", "runtime/wire"},
	"runtime/stream":                       {"runtime/wire", "runtime/internal/ledger"},
	"runtime/internal/catalog":             {"runtime/wire"},
	"runtime/internal/fault":               {},
	"runtime/internal/keyset":              {},
	"runtime/internal/ledger":              {"runtime/wire"},
	"runtime/internal/footprint":           {},
	"runtime/internal/watchdog":            {},
	"runtime/internal/frequency":           {},
	"runtime/internal/lag":                 {},
	"runtime/internal/outage":              {},
	"runtime/internal/pgerror":             {"runtime/internal/outage", "runtime/internal/protocol", "runtime/internal/session"},
	"runtime/internal/protocol":            {},
	"runtime/internal/protocol/model":      {"runtime/internal/protocol"},
	"runtime/internal/protocol/modelcheck": {"runtime/internal/protocol/model"},
	"runtime/internal/bloom":               {},
	"runtime/internal/recent":              {},
	"runtime/internal/session":             {},
	"runtime/internal/generation":          {"runtime/wire", "runtime/internal/bloom", "runtime/internal/fault", "runtime/internal/session"},
	"runtime/internal/copies":              {"runtime/internal/ledger"},
	"runtime/internal/maintain":            {"runtime/internal/copies", "runtime/internal/fault", "runtime/internal/generation"},
	"runtime/confluent":                    {"runtime"},
	"runtime/idemtest":                     {"runtime", "runtime/halt", "runtime/stream", "runtime/wire", "runtime/internal/fault", "runtime/idemtest/internal/postgres"},
	"runtime/idemtest/internal/postgres":   {},
	"runtime/idemtest/cutproxy":            {},
	"runtime/idemtest/pgbouncer":           {"runtime/idemtest/internal/postgres"},
}

// free are programs that stand on top of everything.
var free = []string{"scripts/", "examples/", "bench", "testdata/"}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if onTop(name) {
			continue
		}
		allowed, listed := may[name]
		if !listed {
			t.Errorf("%s has no place in the import direction: add it to this test", name)
		}
		for _, i := range p.Imports {
			of, own := strings.CutPrefix(i, module+"/")
			if own && !slices.Contains(allowed, of) {
				t.Errorf("%s must not import %s", name, of)
			}
		}
	}
}

// only says which package alone may import a library.
var only = map[string]string{
	"github.com/dave/jennifer/jen":                        "generator/gocode",
	"gopkg.in/yaml.v3":                                    "schema",
	"golang.org/x/tools/go/packages":                      "generator/gopkg",
	"github.com/rogpeppe/go-internal/diff":                "generator/output",
	"github.com/confluentinc/confluent-kafka-go/v2/kafka": "runtime/confluent",
}

// onTop reports whether a package is a program that uses the product, as a service does.
func onTop(name string) bool {
	return slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func TestLibrariesHaveOneImporter(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, i := range p.Imports {
			if home, bound := only[i]; bound && home != name && !onTop(name) {
				t.Errorf("%s must not import %s, which belongs to %s", name, i, home)
			}
		}
	}
	for lib, home := range only {
		if home == "runtime/confluent" {
			continue
		}
		if files := importers(t, lib, home); len(files) != 1 {
			t.Errorf("%s must be imported by exactly one file, is by %v", lib, files)
		}
	}
}

// importers are the non-test files of a package that import lib.
func importers(t *testing.T, lib, home string) []string {
	t.Helper()
	var files []string
	for _, p := range packages(t) {
		if p.ImportPath != module+"/"+home {
			continue
		}
		for _, f := range p.GoFiles {
			if slices.Contains(fileImports(t, filepath.Join(p.Dir, f)), lib) {
				files = append(files, f)
			}
		}
	}
	return files
}

func TestRuntimeCoreImportsPgxAndTheStandardLibraryOnly(t *testing.T) {
	for _, p := range packages(t) {
		if name := strings.TrimPrefix(p.ImportPath, module+"/"); name != "runtime" && name != "runtime/idemtype" && name != "runtime/wire" && !strings.HasPrefix(name, "runtime/internal/") {
			continue
		}
		for _, i := range p.Imports {
			if strings.Contains(i, ".") && !strings.HasPrefix(i, "github.com/jackc/pgx/v5") && !strings.HasPrefix(i, module+"/") {
				t.Errorf("%s must not import %s", p.ImportPath, i)
			}
		}
	}
}

// The generator and what a service links must build where there is no C compiler.
func TestBuildsWithoutCgo(t *testing.T) {
	cmd := exec.Command("go", "build", module+"/cmd/...", module+"/runtime", module+"/runtime/stream", module+"/generator/...", module+"/schema/...")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("CGO_ENABLED=0 %s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
