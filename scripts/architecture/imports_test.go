package architecture

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/idemgen/idemgen"

// pkg is what the go command tells of one package.
type pkg struct {
	ImportPath     string
	Dir            string
	Imports        []string // by any of its files, those of other platforms as well
	TestImports    []string
	XTestImports   []string
	GoFiles        []string
	CgoFiles       []string
	IgnoredGoFiles []string // of other platforms
	Deps           []string
}

// name is the package's path below the module.
func (p pkg) name() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

func (p pkg) internal() bool { return strings.Contains("/"+p.name(), "/internal/") }

// own are the packages of the module that it imports.
func (p pkg) own() (all []string) {
	for _, i := range p.Imports {
		if of, own := strings.CutPrefix(i, module+"/"); own {
			all = append(all, of)
		}
	}
	return all
}

// otherPlatforms are its files, without tests, that are not built here.
func (p pkg) otherPlatforms() []string {
	return slices.DeleteFunc(slices.Clone(p.IgnoredGoFiles), func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// packages are those of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	listOnce.Do(func() { listed = list(t) })
	if len(listed) < 15 {
		t.Fatalf("go list found %d packages only", len(listed))
	}
	return listed
}

// listed are the packages, which one go command lists for all tests.
var (
	listOnce sync.Once
	listed   []pkg
)

func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,CgoFiles,IgnoredGoFiles,Deps", module+"/...").Output()
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
		for _, file := range p.otherPlatforms() {
			p.Imports = append(p.Imports, fileImports(t, filepath.Join(p.Dir, file))...)
		}
		slices.Sort(p.Imports)
		p.Imports = slices.Compact(p.Imports)
		all = append(all, p)
	}
	return all
}

// may says what each package of the module may import of the module. A package that is not
// listed fails the test: think about its place first. An internal package says it itself, in
// its doc comment.
var may = map[string][]string{
	"cmd/idemgen":                   {"cmd/idemgen/internal/command", "cmd/idemgen/internal/here", "cmd/idemgen/internal/operators", "cmd/idemgen/internal/spec"},
	"generator":                     {"internal/proof", "internal/gen/messages", "internal/gen/eventkey", "internal/gen/explain", "internal/gen/evolution", "internal/gen/resolve", "internal/gen/resolve/goname", "internal/gen/resolve/typeword", "internal/gen/model", "internal/gen/gocode", "internal/gen/sqlcode", "internal/gen/scaffold", "internal/proof/seedlog", "internal/gen/state", "internal/gen/survey", "internal/gen/output", "internal/gen/gopkg", "internal/pgtable", "runtime/outbox", "runtime/wire", "internal/gen/syntax", "schema", "internal/record"},
	"schema":                        {},
	"templates":                     {},
	"runtime/idem":                  {"runtime/hook", "runtime/idemtype", "runtime/lease", "runtime/wire", "runtime/internal/backoff", "runtime/internal/catalog", "runtime/internal/door", "runtime/internal/engine", "runtime/internal/engine/keys", "runtime/internal/fault", "runtime/internal/generation", "runtime/internal/handler", "runtime/internal/keyset", "runtime/internal/maintain", "runtime/internal/notify", "runtime/internal/outage", "runtime/internal/pool", "runtime/internal/report", "runtime/internal/verdict", "internal/process"},
	"runtime/effects":               {"runtime/idem", "runtime/idemtype", "runtime/lease", "runtime/wire", "runtime/internal/door", "runtime/internal/effect", "runtime/internal/engine", "runtime/internal/pglease", "runtime/internal/pipeline", "runtime/internal/session"},
	"runtime/wire":                  {"runtime/wire/internal/notation"},
	"runtime/wire/strictjson":       {"runtime/wire", "runtime/wire/internal/notation"},
	"runtime/lease":                 {"runtime/wire"},
	"runtime/redislease":            {"runtime/lease", "runtime/wire"},
	"runtime/halt":                  {},
	"runtime/hook":                  {"runtime/idemtype"},
	"runtime/idemtype":              {"runtime/halt", "runtime/wire"},
	"runtime/console":               {"internal/gen/eventkey", "internal/gen/explain", "internal/gen/view", "internal/operate", "internal/pgtable", "internal/record", "internal/visible", "runtime/halt", "runtime/wire"},
	"runtime/confluent":             {"runtime/idem", "runtime/confluent/internal/clientlog", "runtime/internal/intake", "runtime/internal/member", "runtime/internal/refusal"},
	"runtime/confluent/producer":    {"runtime/outbox", "runtime/confluent/internal/clientlog"},
	"runtime/franz":                 {"runtime/idem", "runtime/franz/internal/clientlog", "runtime/franz/internal/options", "runtime/internal/intake", "runtime/internal/member", "internal/seeds"},
	"runtime/franz/producer":        {"runtime/outbox", "runtime/franz/internal/clientlog", "runtime/franz/internal/options", "internal/seeds"},
	"runtime/outbox":                {"internal/pgtable", "internal/process", "internal/record", "internal/text", "runtime/internal/outage", "runtime/internal/refusal", "runtime/internal/report", "runtime/internal/session"},
	"runtime/avro":                  {"internal/avromsg", "internal/frame", "runtime/internal/packed", "runtime/wire"},
	"runtime/avro/registry":         {"runtime/avro"},
	"runtime/framedjson":            {"internal/frame", "runtime/internal/packed", "runtime/wire"},
	"runtime/internal/packed":       {"internal/frame", "runtime/wire"},
	"runtime/protobuf":              {"internal/protomsg", "runtime/internal/packed", "runtime/wire"},
	"runtime/httpcall":              {"runtime/idem", "runtime/internal/verdict"},
	"runtime/idemotel":              {"runtime/idem", "runtime/hook", "runtime/idemtype", "runtime/wire"},
	"runtime/idemprom":              {"runtime/idem", "runtime/hook", "runtime/idemtype"},
	"runtime/idemprom/outboxprom":   {"runtime/outbox"},
	"runtime/idemtest":              {"internal/gen/model", "internal/proof", "internal/proof/seedlog", "runtime/idem", "runtime/halt", "runtime/lease", "internal/operate", "runtime/wire", "runtime/internal/door", "runtime/internal/engine", "runtime/internal/fault", "internal/kit/fakebroker", "internal/kit/postgres", "internal/kit/redistest"},
	"runtime/idemtest/testmessages": {"internal/gen/messages", "internal/gen/resolve", "internal/proof"},
	"runtime/idemtest/testleases":   {"runtime/idem", "runtime/idemtest", "internal/kit/redistest", "runtime/lease", "runtime/redislease"},
}

// free are programs that stand on top of everything.
var free = []string{"scripts/", "examples/", "bench", "testdata/"}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name()
		if onTop(name) || p.internal() {
			continue
		}
		allowed, listed := may[name]
		if !listed {
			t.Errorf("%s has no place in the import direction: add it to this test", name)
		}
		for _, of := range p.own() {
			if !slices.Contains(allowed, of) {
				t.Errorf("%s must not import %s", name, of)
			}
		}
	}
}

// The command has a room for each kind of work, which the program joins. No room imports another,
// or is imported by what they share; what helps their tests is linked by nothing else.
func TestRoomsOfTheCommandKnowNoOther(t *testing.T) {
	const below = "cmd/idemgen/internal/"
	rooms := []string{below + "here", below + "operators", below + "spec"}
	joined := 0
	for _, p := range packages(t) {
		for _, of := range p.own() {
			switch room := slices.Contains(rooms, of); {
			case room && p.name() == "cmd/idemgen":
				joined++
			case room, of == below+"commandtest":
				t.Errorf("%s must not import %s", p.name(), of)
			case p.name() == below+"command" && within(of, "cmd/idemgen"):
				t.Errorf("%s is below all commands, and must not import %s", p.name(), of)
			}
		}
	}
	if joined != len(rooms) {
		t.Errorf("the program joins %d rooms of %d", joined, len(rooms))
	}
}

// provers may link what only proves: tests, programs of this repository, and the command, which
// checks cases. The program of a service links none of it.
var provers = []string{"internal/proof", "scripts/", "bench", "runtime/idemtest", rig, "generator", "cmd/idemgen", "examples/users/cmd/demo"}

// What only proves the product is linked by tests, and by what only proves.
func TestProofIsLinkedByTestsAlone(t *testing.T) {
	found := false
	for _, p := range packages(t) {
		for _, of := range p.Deps {
			proves := strings.HasPrefix(of+"/", module+"/internal/proof/")
			explores := strings.HasPrefix(of, module+"/internal/proof/model") || of == module+"/internal/proof/longtest"
			found = found || proves
			if proves && !slices.ContainsFunc(provers, func(by string) bool { return strings.HasPrefix(p.name(), by) }) {
				t.Errorf("%s links %s", p.name(), of)
			}
			if explores && p.name() != rig && !strings.HasPrefix(p.name(), "internal/proof/") && !strings.HasPrefix(p.name(), "scripts/") {
				t.Errorf("%s links %s", p.name(), of)
			}
		}
	}
	if !found {
		t.Error("nothing links what proves: the test shows nothing")
	}
}

// mustNot is the sentence of a doc comment that bounds what a package imports of the module.
var mustNot = regexp.MustCompile(`[Ii]t must not import any (other package of this module|package of this module but ([a-z/, ]+))\.`)

// Every internal package says what it is for, and which packages of the module it must not
// import; it imports those that it names, and no other.
func TestInternalPackagesImportWhatTheySay(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		if !p.internal() || len(p.GoFiles) == 0 {
			continue
		}
		found++
		doc := packageDoc(t, p)
		words := mustNot.FindStringSubmatch(doc)
		if !strings.HasPrefix(doc, "Package ") && !strings.HasPrefix(doc, "Command ") || words == nil {
			t.Errorf("%s: its doc comment does not say what it is for, and \"It must not import any ...\": %q", p.name(), doc)
			continue
		}
		named := strings.FieldsFunc(strings.ReplaceAll(words[2], " and ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
		for _, of := range p.own() {
			is := func(name string) bool { return name == fromCommonParent(p.name(), of) || name == path.Base(of) }
			if i := slices.IndexFunc(named, is); i >= 0 {
				named = slices.Delete(named, i, i+1)
			} else {
				t.Errorf("%s must not import %s, says its doc comment", p.name(), of)
			}
		}
		if len(named) > 0 {
			t.Errorf("%s may import %v, says its doc comment, and does not", p.name(), named)
		}
	}
	if found < 30 {
		t.Errorf("%d internal packages found only", found)
	}
}

// fromCommonParent is the path of a package from the nearest folder that holds it and the one
// that imports it.
func fromCommonParent(importer, of string) string {
	for dir := path.Dir(of); dir != "."; dir = path.Dir(dir) {
		if below := strings.TrimPrefix(of, dir+"/"); strings.HasPrefix(importer+"/", dir+"/") {
			return below
		}
	}
	return of
}

// packageDoc is a package's doc comment on one line. A second one would be read in its place.
func packageDoc(t *testing.T, p pkg) string {
	t.Helper()
	var docs []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.otherPlatforms()) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			docs = append(docs, strings.Join(strings.Fields(f.Doc.Text()), " "))
		}
	}
	if len(docs) > 1 {
		t.Errorf("%s has %d doc comments, and must have one: %q", p.name(), len(docs), docs)
	}
	return strings.Join(docs, " ")
}

// only says which package alone may import a library.
var only = map[string]string{
	"github.com/dave/jennifer/jen":                        "internal/gen/gocode",
	"gopkg.in/yaml.v3":                                    "internal/gen/syntax",
	"golang.org/x/tools/go/packages":                      "internal/gen/gopkg",
	"github.com/rogpeppe/go-internal/diff":                "internal/gen/output",
	"github.com/confluentinc/confluent-kafka-go/v2/kafka": "runtime/confluent runtime/confluent/producer runtime/confluent/internal/clientlog",
	"github.com/gdamore/tcell/v2":                         "scripts/demo",
	"github.com/redis/go-redis/v9":                        "runtime/redislease runtime/idemtest/testleases cmd/idemgen/internal/doctor",
	"github.com/prometheus/client_golang/prometheus":      "runtime/idemprom runtime/idemprom/outboxprom",
	"go.opentelemetry.io/otel/trace":                      "runtime/idemotel",
	"github.com/twmb/franz-go/pkg/sr":                     "runtime/avro/registry cmd/idemgen/internal/dev cmd/idemgen/internal/doctor",
}

// chosen are libraries that nobody links without importing a package that is there for those who
// want it.
var chosen = map[string]string{
	"github.com/redis/go-redis/v9":                   "runtime/redislease",
	"github.com/prometheus/client_golang/prometheus": "runtime/idemprom",
	"go.opentelemetry.io/otel/trace":                 "runtime/idemotel",
	"github.com/twmb/franz-go/pkg/sr":                "runtime/avro/registry",
}

func TestLibrariesAreLinkedByThoseWhoUseThem(t *testing.T) {
	for lib, through := range chosen {
		linked := 0
		for _, p := range packages(t) {
			if !slices.Contains(p.Deps, lib) {
				continue
			}
			linked++
			// By bench/notices; by programs by hand; by tests; for doctor.
			if p.name() == "bench/worker" || p.name() == rig || p.name() == "bench/peers" || p.name() == "bench/compare" || strings.HasPrefix(p.name(), "cmd/idemgen") {
				continue
			}
			if !within(p.name(), through) && !slices.ContainsFunc(p.own(), func(of string) bool { return within(of, through) }) {
				t.Errorf("%s links %s, and does not import %s", p.name(), lib, through)
			}
		}
		if linked == 0 {
			t.Errorf("nobody links %s", lib)
		}
	}
}

// within reports whether a package is another one, or below it.
func within(name, of string) bool { return strings.HasPrefix(name+"/", of+"/") }

// onTop reports whether a package is a program that uses the product, as a service does.
func onTop(name string) bool {
	return slices.ContainsFunc(free, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func TestLibrariesHaveOneImporter(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, i := range p.Imports {
			if home, bound := only[i]; bound && !slices.Contains(strings.Fields(home), name) && !onTop(name) {
				t.Errorf("%s must not import %s, which belongs to %s", name, i, home)
			}
		}
	}
	for lib, home := range only {
		if strings.HasPrefix(home, "runtime/confluent ") || chosen[lib] != "" {
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

// The core is what package idem links, what generated code links, and all that is internal. The
// generator and the kit of tests are not, nor are avromsg and protomsg, which services link whose
// records are such messages.
func TestRuntimeCoreImportsPgxAndTheStandardLibraryOnly(t *testing.T) {
	all := packages(t)
	face := all[slices.IndexFunc(all, func(p pkg) bool { return p.name() == "runtime/idem" })]
	for _, p := range all {
		core := p.name() == "runtime/idem" || slices.Contains(face.Deps, p.ImportPath)
		if within(p.name(), "internal/kit") || within(p.name(), "internal/gen") || p.name() == "internal/avromsg" || p.name() == "internal/protomsg" || !core && !strings.HasPrefix(p.name(), "runtime/wire/") && !strings.HasPrefix(p.name(), "runtime/internal/") && !strings.HasPrefix(p.name(), "internal/") {
			continue
		}
		for _, i := range p.Imports {
			if strings.Contains(i, ".") && !strings.HasPrefix(i, "github.com/jackc/pgx/v5") && !strings.HasPrefix(i, module+"/") {
				t.Errorf("%s must not import %s", p.ImportPath, i)
			}
		}
	}
}

// The generator and what a service links must build where there is no C compiler: they consist of
// the same files without cgo, and these do not use it. The standard library sees to itself.
func TestBuildsWithoutCgo(t *testing.T) {
	of := []string{module + "/cmd/...", module + "/runtime/idem", module + "/runtime/franz/...", module + "/internal/...", module + "/generator/...", module + "/schema/..."}
	if with, without := builtFiles(t, "1", of...), builtFiles(t, "0", of...); with != without {
		t.Errorf("without cgo it is another program:\n%s\nand with it\n%s", without, with)
	}
	const client = module + "/runtime/confluent"
	if builtFiles(t, "1", client) == builtFiles(t, "0", client) {
		t.Errorf("%s seems to need no cgo: is the difference seen?", client)
	}
}

// builtFiles are what the go command compiles for packages, and their errors, a line for each
// package that is not of the standard library.
func builtFiles(t *testing.T, cgo string, of ...string) string {
	t.Helper()
	const format = "{{if not .Standard}}{{.ImportPath}} {{.GoFiles}} {{.CgoFiles}} {{.CFiles}} {{.CXXFiles}} {{.SFiles}} {{with .Error}}{{.Err}}{{end}}{{end}}"
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-e", "-f", format}, of...)...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED="+cgo)
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("go list %s: %v", of, err)
	}
	return string(out)
}
