package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// spec is a spec with a table, a topic and two events; most tests change it a little.
const spec = `version: 1
consumer: order-projector
package: orders

tables:
  orders:
    primary_key: [order_id]
    columns:
      order_id: uuid
      customer_id: text
      total: numeric(12,2)
      status: text

topics:
  orders.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}
    event_type: {header: event-type}
    events:
      OrderPlaced:
        type: order.placed
        fields: {order_id: uuid, customer_id: string, total: decimal}
        write:
          - upsert: orders
            set: {status: {value: placed}}
      OrderPaid:
        type: order.paid
        fields: {order_id: uuid}
        write:
          - update: orders
            set: {status: {value: paid}}
`

// second is a topic to append to spec.
const second = `  returns.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}
    events:
      OrderReturned:
        fields: {order_id: uuid}
        handle: true
`

// module makes a module of files in a temporary folder and goes there.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "go.mod", "module example.com/orders\n\ngo 1.26.0\n")
	for name, text := range files {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces old, which must be there, by new.
func edit(t *testing.T, name, old, new string) {
	t.Helper()
	text := read(t, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	write(t, name, strings.Replace(text, old, new, 1))
}

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, prose bytes.Buffer
	code = Run(t.Context(), args, &out, &prose)
	return code, out.String(), prose.String()
}

// must runs a command that must end with code 0, and returns its stdout.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := run(t, args...)
	if code != done {
		t.Fatalf("idemgen %v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

// refused runs a command that must end with code 2, say want on stderr, and change no file.
func refused(t *testing.T, want string, args ...string) {
	t.Helper()
	before := tree(t, ".")
	code, stdout, stderr := run(t, args...)
	if code != trouble || !strings.Contains(stderr, want) || stdout != "" {
		t.Errorf("idemgen %v: exit code %d, stdout %q, stderr:\n%s\nwant %q", args, code, stdout, stderr, want)
	}
	if after := tree(t, "."); after != before {
		t.Errorf("idemgen %v changed files:\n%s\nwere\n%s", args, after, before)
	}
}

// tree is every file below dir with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		b.WriteString("== " + rel + "\n" + read(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"", trouble, "", "Usage:\n  idemgen [flags]\n  idemgen [command]"},
		{"help", done, "Usage:\n  idemgen [flags]\n  idemgen [command]", ""},
		{"--help", done, "Usage:\n  idemgen [flags]\n  idemgen [command]", ""},
		{"help check", done, "Usage:\n  idemgen check ", ""},
		{"check -h", done, "Usage:\n  idemgen check ", ""},
		{"help nothing", trouble, "", `no help on "nothing"`},
		{"help stream nothing", trouble, "", `no help on "stream nothing"`},
		{"frobnicate", trouble, "", "unknown command \"frobnicate\"; see idemgen help\n"},
		{"chekc", trouble, "", `unknown command "chekc" (did you mean check?)`},
		{"generate --x", trouble, "", "unknown flag --x; see idemgen help generate\n"},
		{"version", done, "idemgen ", ""},
		{"version now", trouble, "", "only flags"},
		{"--version", done, "idemgen ", ""},
		{"init a b", trouble, "", `init takes one folder, and "b" is a second one; see idemgen help init`},
		{"generate -x", trouble, "", "unknown flag -x; see idemgen help generate\n"},
		{"generate --json=maybe", trouble, "", `--json cannot be "maybe": want true or false; see idemgen help generate`},
		{"check --json=maybe", trouble, "", `--json cannot be "maybe": want true or false`},
		{"init --package", trouble, "", "--package needs a value after it; see idemgen help init"},
		{"init --=x", trouble, "", `"--=x" is not a flag; see idemgen help init`},
		{"generate", trouble, "", "idemgen.yaml: no such spec"},
		{"check ./...", trouble, "", "no idemgen.yaml"},
		{"completion", trouble, "", "idemgen completion [command]"},
		{"completion tcsh", trouble, "", `unknown command "tcsh"`},
	} {
		module(t, nil)
		code, stdout, stderr := run(t, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) ||
			(tc.stdout == "") != (stdout == "") || (tc.stderr == "") != (stderr == "") {
			t.Errorf("idemgen %s: exit code %d, stdout %q, stderr %q", tc.args, code, stdout, stderr)
		}
	}
}

// everyCommand calls visit for each command of the program.
func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, below := range cmd.Commands() {
		everyCommand(below, visit)
	}
}

// Each command has a help, which "help" and --help print alike.
func TestEveryCommandHasHelp(t *testing.T) {
	everyCommand(rootCommand(nil, io.Discard, io.Discard), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		text := must(t, append([]string{"help"}, path...)...)
		if cmd.Long == "" || !strings.Contains(text, "Usage:\n  "+cmd.CommandPath()) || must(t, append(path, "--help")...) != text {
			t.Errorf("%s:\n%s", cmd.CommandPath(), text)
		}
	})
}

// No default value stands in a help: one of the environment may hold a password.
func TestHelpShowsNothingOfTheEnvironment(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://u:hunter2@h/db")
	everyCommand(rootCommand(nil, io.Discard, io.Discard), func(cmd *cobra.Command) {
		if text := must(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...); strings.Contains(text, "hunter2") {
			t.Errorf("%s:\n%s", cmd.CommandPath(), text)
		}
	})
}

// A flag that must be given has no default, and its help names none.
func TestRequiredFlagsHaveNoDefault(t *testing.T) {
	everyCommand(rootCommand(nil, io.Discard, io.Discard), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, required := f.Annotations[cobra.BashCompOneRequiredFlag]; required && strings.Contains(f.Usage, "default") {
				t.Errorf("%s --%s: %s", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	})
}
