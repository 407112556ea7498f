package architecture

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/generator/sqlcode"
)

var update = flag.Bool("update", false, "rewrite the copies of the runtime's migrations in examples and golden cases")

var runtimeMigration = regexp.MustCompile(`^[0-9]+_(idem_[0-9]+)(?:\.up)?\.sql$`)

// The migrations of examples and golden cases hold the runtime's tables as they are now.
// idemgen never writes a migration again, so that a change of templates/sql reaches no copy.
func TestCopiesOfTheRuntimesMigrationsAreCurrent(t *testing.T) {
	copies := 0
	for _, dir := range []string{"../../examples", "../../bench", "../../testdata/golden/accepted", "../../testdata/golden/behaviour"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			name := runtimeMigration.FindStringSubmatch(filepath.Base(path))
			if err != nil || name == nil {
				return err
			}
			copies++
			have := read(t, path)
			format := sqlcode.FormatOf(sqlcode.WrittenAs(filepath.Base(path), have))
			want := format.Runtime(1, name[1], read(t, "../../templates/sql/"+name[1]+".sql"))[0].Text
			if have != want && *update {
				replaceMigration(t, path, have, want)
			} else if have != want {
				t.Errorf("%s is not templates/sql/%s.sql behind the line of idemgen; run go test ./scripts/architecture -run %s -update, which writes it and its checksum", path, name[1], t.Name())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if copies < 10 {
		t.Errorf("%d copies found only", copies)
	}
}

// replaceMigration writes a migration, and its checksum into the state that holds the one of
// before: in a folder above, or in one beside it, which shares the migrations.
func replaceMigration(t *testing.T, path, old, text string) {
	t.Helper()
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return hex.EncodeToString(hash[:])
	}
	for dir := filepath.Dir(path); filepath.Base(dir) != ".."; dir = filepath.Dir(dir) {
		states, err := filepath.Glob(filepath.Join(dir, "*", "idem.state.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range append(states, filepath.Join(dir, "idem.state.yaml")) {
			content, err := os.ReadFile(state)
			if err != nil || !strings.Contains(string(content), "  "+filepath.Base(path)+": "+sum(old)) {
				continue
			}
			for file, content := range map[string]string{path: text, state: strings.ReplaceAll(string(content), sum(old), sum(text))} {
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return
		}
	}
	t.Fatalf("%s: no idem.state.yaml holds its checksum", path)
}
