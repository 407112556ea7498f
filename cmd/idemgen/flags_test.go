package main

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
)

// A flag means the same before the arguments and behind them.
func TestFlagsStandBeforeAndBehindArguments(t *testing.T) {
	module(t, map[string]string{"sub/idemgen.yaml": strings.Replace(commandtest.Spec, "    columns:\n", "    unique: [[customer_id]]\n    columns:\n", 1)})
	for _, args := range [][]string{{"--json", "sub"}, {"sub", "--json"}, {"sub", "--json", "sub/idemgen.yaml"}} {
		if out := must(t, append([]string{"generate"}, args...)...); !strings.HasPrefix(out, "{") {
			t.Errorf("%v: %s", args, out)
		}
	}
	before, behind := must(t, "init", "--consumer", "a", "one"), must(t, "init", "two", "--consumer", "a")
	if behind != strings.ReplaceAll(before, "one/", "two/") {
		t.Errorf("%s\n%s", before, behind)
	}
	module(t, nil)
	t.Setenv("DATABASE_URL", "postgres://127.0.0.1:1/x")
	for _, args := range []string{"list", "--database postgres://127.0.0.1:1/y list"} {
		refused(t, "connect to the database", append([]string{"stream"}, strings.Fields(args)...)...)
	}
}
