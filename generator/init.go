package generator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/survey"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/internal/proof"
)

// Start holds the parameters of Init. Empty names are derived from the import path.
type Start struct {
	Dir      string // folder of the new spec, inside a Go module; created if it does not exist
	Consumer string
	Package  string
	Client   string // Kafka client of the program, one of Clients; "" means the first one
	// Tables are the existing tables for the spec to describe; nil means the sample's tables.
	Tables []*pgtable.Table
	// Topic has what the spec is to describe; nil means the sample's topic.
	Topic *survey.Report
}

// Clients are the Kafka clients that a generated program may use, the default first.
var Clients = scaffold.Clients

// Started is the result of Init, with what remains to be done.
type Started struct {
	*Result
	Spec       string   // path of the spec, in the form in which Dir was given
	Kept       bool     // the spec already existed, and is not changed
	Sample     []string // files of the sample besides the spec, and main.go, which fits it; empty if the spec already existed
	Migrations string   // folder of the migrations, relative to that of the spec
	Format     string   // of the migrations
	Program    string   // folder of the program, relative to that of the spec
	OverTables bool     // the spec describes existing tables of a database
	OfTopic    bool     // the spec describes a topic that has records
	Complete   []string // the commands that make the module complete, from the folder
	Attributes string   // lines to add to an existing .gitattributes; "" if none
}

// Init prepares a new service: a first spec, the files around it, and the files that Generate
// renders for them. Like Generate it writes nothing; Apply of the result does. It is an error if
// one of the files already exists. If the folder already has a spec, Init uses it, and adds only
// files that are missing.
func Init(s Start) (*Started, error) {
	dir := filepath.Clean(s.Dir)
	client := cmp.Or(s.Client, Clients[0])
	if !slices.Contains(Clients, client) {
		return nil, fmt.Errorf("there is no Kafka client %q: it is one of %s", client, strings.Join(Clients, ", "))
	}
	importPath, err := importPathOf(dir)
	if err != nil {
		return nil, err
	}
	started := &Started{OverTables: s.Tables != nil, OfTopic: s.Topic != nil, Spec: filepath.ToSlash(filepath.Join(dir, SpecFile))}
	if started.Complete, err = complete(dir); err != nil {
		return nil, err
	}
	sample := false
	spec, err := os.ReadFile(filepath.FromSlash(started.Spec))
	switch {
	case err == nil:
		started.Kept = true
		if s.Package != "" || s.Consumer != "" {
			return nil, fmt.Errorf("%s exists, and has the names of its consumer and package", started.Spec)
		}
	case errors.Is(err, fs.ErrNotExist):
		sample = s.Tables == nil && s.Topic == nil
		spec, err = s.firstSpec(dir, importPath)
	}
	if err != nil {
		return nil, err
	}
	started.Result, err = generate([]Spec{{Path: started.Spec, Content: spec}}, sample, func(read *source, files []output.File) ([]output.File, error) {
		return started.around(read, files, spec, importPath, client, sample)
	})
	if err == nil && started.Refused && !started.Kept {
		err = errors.Join(wrongNames(started.Result), started.Close())
	}
	return started, err
}

// firstSpec returns the sample spec with the names filled in.
func (s Start) firstSpec(dir, importPath string) ([]byte, error) {
	if s.Package == "" {
		s.Package = packageName(importPath)
	}
	if s.Consumer == "" {
		s.Consumer = consumerName(importPath)
	}
	if err := samePackageAs(dir, s.Package); err != nil {
		return nil, err
	}
	switch {
	case s.Tables != nil:
		return specOf(s)
	case s.Topic != nil:
		return specOfTopic(s)
	}
	return scaffold.Spec(s.Consumer, s.Package)
}

// wrongNames returns the errors of the sample. They can only be about the names, which are the
// user's.
func wrongNames(r *Result) error {
	var errs []error
	for _, d := range r.Diagnostics {
		errs = append(errs, fmt.Errorf("%s: %s (%s)", d.Message, d.Hint, d.Code))
	}
	return errors.Join(errs...)
}

// around renders the files around a first spec.
func (s *Started) around(u *source, rendered []output.File, spec []byte, importPath, client string, sample bool) ([]output.File, error) {
	generate, err := scaffold.Generate(u.service)
	if err != nil {
		return nil, err
	}
	program, err := scaffold.Main(u.service, importPath, client)
	if err != nil {
		return nil, err
	}
	attributes, err := scaffold.Attributes()
	if err != nil {
		return nil, err
	}
	s.Migrations, s.Format, s.Program = u.service.Migrations.Dir, u.service.Migrations.Format, path.Dir(scaffold.MainFile(u.service.Consumer))
	files := []output.File{
		{Path: SpecFile, Policy: output.Scaffold, Data: spec},
		{Path: scaffold.GenerateFile, Policy: output.Scaffold, Data: generate},
		{Path: scaffold.MainFile(u.service.Consumer), Policy: output.Scaffold, Data: program},
	}
	if sample {
		name, content, err := scaffold.SampleCase()
		if err != nil {
			return nil, err
		}
		files = append(files, output.File{Path: casePath(name), Policy: output.Scaffold, Data: content})
	}
	if !s.Kept {
		for _, name := range []string{s.Migrations, state.File, scaffold.HandlerFile, scaffold.SetupFile, proof.CasesFolder, scaffold.MainFile(u.service.Consumer)} {
			if slices.ContainsFunc(slices.Concat(files, rendered), func(f output.File) bool { return f.Path == name || strings.HasPrefix(f.Path, name+"/") }) {
				s.Sample = append(s.Sample, name)
			}
		}
	}
	var errs []error
	for _, f := range slices.Concat(files, rendered) {
		if _, err := u.folder.Read(f.Path); !s.Kept && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, inTheWay(u.folder.Show(f.Path)))
		}
	}
	if has, err := u.folder.Read(scaffold.AttributesFile); err == nil {
		if !bytes.Contains(has, attributes) {
			s.Attributes = string(attributes)
		}
	} else {
		files = append(files, output.File{Path: scaffold.AttributesFile, Policy: output.Scaffold, Data: attributes})
	}
	return files, errors.Join(errs...)
}

func inTheWay(name string) error { return fmt.Errorf("%s exists; idemgen init replaces nothing", name) }

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"/][^\s"]*)"?`)

// importPathOf returns the import path of a folder.
func importPathOf(dir string) (string, error) {
	root, goMod, err := module(dir)
	if err != nil {
		return "", err
	}
	name := moduleLine.FindSubmatch(goMod)
	if name == nil {
		return "", fmt.Errorf("%s names no module", filepath.ToSlash(filepath.Join(root, "go.mod")))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, abs)
	return path.Join(string(name[1]), filepath.ToSlash(rel)), err
}

// module returns the folder of a folder's module, and its go.mod.
func module(dir string) (root string, goMod []byte, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	for {
		goMod, err = os.ReadFile(filepath.Join(root, "go.mod"))
		if !errors.Is(err, fs.ErrNotExist) {
			return root, goMod, err
		}
		if root == filepath.Dir(root) {
			return "", nil, errors.New("no go.mod here or upwards: generated code belongs to a Go module; run go mod init example.com/orders first, with a name of your own")
		}
		root = filepath.Dir(root)
	}
}

var (
	majorVersion = regexp.MustCompile(`/v[0-9]+$`)
	notInName    = regexp.MustCompile(`[^a-z0-9]+`)
)

// consumerName derives a consumer's name from the last element of an import path.
func consumerName(importPath string) string {
	last := strings.ToLower(path.Base(majorVersion.ReplaceAllString(importPath, "")))
	name := strings.Trim(notInName.ReplaceAllString(last, "-"), "-0123456789")
	if name == "" {
		return "events"
	}
	return name[:min(len(name), 63)]
}

// packageName derives a package name from an import path.
func packageName(importPath string) string {
	name := strings.ReplaceAll(consumerName(importPath), "-", "")
	if syntax.ReservedPackage(name) {
		return "events"
	}
	return name[:min(len(name), 41)]
}

// samePackageAs returns an error if the folder has Go files of another package.
func samePackageAs(dir, pkg string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		if has := file.Name.Name; has != pkg && has != pkg+"_test" {
			return fmt.Errorf("%s is in package %s, but the spec would be in package %s: choose another folder, for example idemgen init %s, or set --package",
				filepath.ToSlash(name), has, pkg, path.Join(filepath.ToSlash(dir), "events"))
		}
	}
	return nil
}
