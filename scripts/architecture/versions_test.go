package architecture

import "testing"

// The modules of go.work use the versions of the product, so what is compiled for one of them
// serves all: with one other version of a package that pgx imports, tests that play services
// compiled pgx, the runtime and the commands again.
func TestModulesShareVersions(t *testing.T) {
	const versions = `{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}`
	list := func(workspace string) string {
		t.Setenv("GOWORK", workspace)
		return output(t, "go", "list", "-C", "../..", "-deps", "-test", "-f", versions, "./...")
	}
	alone, together := list("off"), list("")
	if alone != together {
		t.Errorf("go.mod has other versions than a module beside it. In go.mod:\n%s\nin go.work:\n%s", alone, together)
	}
}
