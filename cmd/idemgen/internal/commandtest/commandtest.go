// Package commandtest runs commands of idemgen for the tests of their packages: in a module of its
// own, with what they print and write. Tests alone link it.
//
// It must not import any package of this module but command, generator and internal/gen/typecheck.
package commandtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
)

// Main runs the tests of a package without addresses of the environment.
func Main(m *testing.M) {
	for _, name := range []string{"DATABASE_URL", "KAFKA_BROKERS", "SCHEMA_REGISTRY_URL", "REDIS_URL"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Commands are the commands of a package, made for the arguments of a program.
type Commands func(args []string) []*cobra.Command

// Run runs one of the commands.
func (c Commands) Run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, prose bytes.Buffer
	code = command.Run(t.Context(), args, &out, &prose, c(args)...)
	return code, out.String(), prose.String()
}

// Must runs a command that must end with code 0, and returns its stdout.
func (c Commands) Must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := c.Run(t, args...)
	if code != command.Done {
		t.Fatalf("idemgen %v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

// Refused runs a command that must end with code 2, say want on stderr, and change no file.
func (c Commands) Refused(t *testing.T, want string, args ...string) {
	t.Helper()
	before := Tree(t, ".")
	code, stdout, stderr := c.Run(t, args...)
	if code != command.Trouble || !strings.Contains(stderr, want) || stdout != "" {
		t.Errorf("idemgen %v: exit code %d, stdout %q, stderr:\n%s\nwant %q", args, code, stdout, stderr, want)
	}
	if after := Tree(t, "."); after != before {
		t.Errorf("idemgen %v changed files:\n%s\nwere\n%s", args, after, before)
	}
}

// Fails runs a command that must end in trouble, with one object on stdout that has its members,
// empty lists all of them, and an error that holds want.
func (c Commands) Fails(t *testing.T, members []string, path, want string, args ...string) {
	t.Helper()
	args = append(strings.Fields(path), args...)
	code, stdout, stderr := c.Run(t, args...)
	var got map[string]any
	Parse(t, stdout, &got)
	text, _ := got["error"].(string)
	delete(got, "error")
	if code != command.Trouble || !slices.Equal(slices.Sorted(maps.Keys(got)), members) || !strings.Contains(text, want) || text == "" {
		t.Errorf("idemgen %v: exit code %d, stdout %s, stderr %s\nwant %q", args, code, stdout, stderr, want)
	}
	for name, value := range got {
		if list, ok := value.([]any); path != "version" && (!ok || len(list) > 0) {
			t.Errorf("idemgen %v: %s is %v", args, name, value)
		}
	}
}

// Every calls visit for each command, and for the program itself.
func (c Commands) Every(visit func(*cobra.Command)) {
	every(command.Root(new(bytes.Buffer), new(bytes.Buffer), c(nil)...), visit)
}

func every(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, below := range cmd.Commands() {
		every(below, visit)
	}
}

// Parse reads what --json printed into value, which must know every field of it.
func Parse(t *testing.T, text string, value any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil || d.More() {
		t.Fatalf("%v\n%s", err, text)
	}
}

var words = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)

// Words splits a command line as a shell does.
func Words(line string) (all []string) {
	for _, word := range words.FindAllString(line, -1) {
		all = append(all, strings.Trim(word, `"'`))
	}
	return all
}

// Generate writes the files of the spec here, as idemgen generate does.
func Generate(t *testing.T) {
	t.Helper()
	result, err := generator.Generate([]generator.Spec{{Path: generator.SpecFile, Content: []byte(Read(t, generator.SpecFile))}})
	apply(t, result, err)
}

// Init writes a first spec, or what is missing around one, as idemgen init does.
func Init(t *testing.T, start generator.Start) {
	t.Helper()
	started, err := generator.Init(start)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, started.Result, nil)
}

func apply(t *testing.T, result *generator.Result, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	if result.Refused {
		t.Fatal(result.Problems)
	}
	if err := result.Apply(); err != nil {
		t.Fatal(err)
	}
}

// Block is the first block of a language in a page.
func Block(t *testing.T, page, language string) string {
	t.Helper()
	_, text, _ := strings.Cut(page, "```"+language+"\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatalf("the page has no block of %s", language)
	}
	return text
}

// Repository is the root of this repository. Tests go elsewhere, and the kit of tests starts their
// program in other folders, where it is "".
var Repository = root()

func root() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
	}
	return ""
}
