package architecture

import (
	"os"
	"regexp"
	"testing"
)

// What a module beside the product shares with it has the same version in both go.mod files. Then
// what is compiled for one of them serves all: with one other version of a package that pgx
// imports, tests that play services would compile pgx, the runtime and the commands again. Rivals
// of a benchmark have the libraries of the product, and a module outside of go.work needs no
// update of its go.mod. scripts/alerts is left out: promtool has its own versions.
func TestModulesShareVersions(t *testing.T) {
	product := versions(t, "go.mod")
	for _, module := range []string{"bench", "bench/peers", "scripts", "scripts/browser", "testdata"} {
		shared := 0
		for path, version := range versions(t, module+"/go.mod") {
			has, is := product[path]
			if is {
				shared++
			}
			if is && has != version {
				t.Errorf("%s has %s %s, and the product %s: run go mod tidy in %[1]s", module, path, version, has)
			}
		}
		if shared < 5 {
			t.Errorf("%s shares %d modules with the product", module, shared)
		}
	}
}

// versions returns the modules that a go.mod file requires.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s(\S+) (v\S+)`).FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	return found
}
