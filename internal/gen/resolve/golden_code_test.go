package resolve_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/gocode"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// What an accepted spec becomes is in the code of its topics and in its state, which are compared
// with the files beside it. Specs that name a schema are left to the command, which reads files.
func TestAcceptedSpecsBecomeTheirCode(t *testing.T) {
	n := 0
	for _, pattern := range []string{"accepted/*/idemgen.yaml", "accepted/*/*/idemgen.yaml", "behaviour/*/idemgen.yaml"} {
		specs, err := filepath.Glob(filepath.Join("../../../testdata/golden", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range specs {
			read := func(name string) []byte {
				content, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
				if err != nil {
					t.Fatal(err)
				}
				return content
			}
			content := read("idemgen.yaml")
			spec, _ := syntax.Load("idemgen.yaml", content)
			if bytes.Contains(content, []byte("schema: ")) {
				continue
			}
			n++
			service, problems := resolve.Resolve(spec)
			if service == nil {
				t.Fatalf("%s: %v", file, problems)
			}
			old, err := state.Read(state.File, read(state.File))
			if err != nil {
				t.Fatal(err)
			}
			if got := state.Next(old, service).Render(); !bytes.Equal(got, read(state.File)) {
				t.Errorf("%s: another state:\n%s", file, got)
			}
			code, err := gocode.Render(service, gocode.SQL{Step: sqlcode.Step, Table: sqlcode.TableName}, gocode.Tests{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range code {
				if strings.HasPrefix(f.Path, "idem_gen") { // it has what only the command knows
					continue
				}
				if !bytes.Equal(f.Content, read(f.Path)) {
					t.Errorf("%s: another %s", file, f.Path)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d specs", n)
	}
}
