package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// Each command has a help, which "help" and --help print alike.
func TestEveryCommandHasHelp(t *testing.T) {
	idemgen.Every(func(cmd *cobra.Command) {
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
	idemgen.Every(func(cmd *cobra.Command) {
		if text := must(t, append(strings.Fields(cmd.CommandPath())[1:], "--help")...); strings.Contains(text, "hunter2") {
			t.Errorf("%s:\n%s", cmd.CommandPath(), text)
		}
	})
}

// A flag that must be given has no default, and its help, which every flag has, names none.
func TestRequiredFlagsHaveNoDefault(t *testing.T) {
	idemgen.Every(func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, required := f.Annotations[cobra.BashCompOneRequiredFlag]
			if f.Usage == "" || required && (!slices.Contains([]string{"", "0", "[]"}, f.DefValue) || strings.Contains(f.Usage, "default")) {
				t.Errorf("%s --%s, %q by default: %q", cmd.CommandPath(), f.Name, f.DefValue, f.Usage)
			}
		})
	})
}

// No argument that looks like a database's address is shown, wherever it stands.
func TestNoArgumentShowsAPassword(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/db")
	for _, secret := range []string{"postgres://bob:s3cretpw@h/db", "bob:s3cretpw@h", "host=h password=s3cretpw", "postgres://bob:\"s3cretpw@h"} {
		for _, args := range [][]string{
			{secret}, {"help", secret}, {"generate", secret}, {"check", secret + "/..."}, {"generate", "-" + secret}, {"generate", "--json=" + secret},
			{"init", secret, "there"}, {"init", "--consumer", secret}, {"version", secret}, {"stream", secret}, {"stream", "list", secret},
			{"stream", "list", "-" + secret}, {"stream", "list", "--json=" + secret},
			{"stream", "release", "--consumer", "c", "--topic", "t", "--reason", "r", "--partition", secret},
			{"stream", "release", "--consumer", "c", "--topic", "t", "--reason", "r", "--partition=" + secret},
		} {
			module(t, nil)
			code, stdout, stderr := run(t, args...)
			if code != trouble || strings.Contains(stdout+stderr, "s3cretpw") {
				t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
			}
		}
	}
}
