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

	"github.com/idemgen/idemgen/internal/gen/sqlcode"
)

var update = flag.Bool("update", false, "rewrite the copies of the runtime's migrations in examples and golden cases")

var runtimeMigration = regexp.MustCompile(`^[0-9]+_(idem_[a-z]+_[0-9]+)(?:\.up)?\.sql$`)

// The migrations of examples and golden cases hold the runtime's tables as they are now.
// idemgen never writes a migration again, so that a change of templates/sql reaches no copy, and
// no state that has the checksum of a link.
func TestCopiesOfTheRuntimesMigrationsAreCurrent(t *testing.T) {
	copies := 0
	for _, dir := range []string{"../../examples", "../../bench", "../../testdata/golden/accepted", "../../testdata/golden/behaviour"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			name := runtimeMigration.FindStringSubmatch(filepath.Base(path))
			if err != nil || name == nil {
				return err
			}
			copies++
			have := read(t, path)
			format := sqlcode.WrittenAs(filepath.Base(path), have)
			want := sqlcode.FormatOf(format).Runtime(1, name[1], read(t, "../../templates/sql/"+name[1]+".sql"))[0].Text
			if format == "sql" && strings.HasPrefix(path, "../../testdata") && d.Type() != fs.ModeSymlink {
				t.Errorf("%s is a copy: make it a link to templates/sql/%s.sql", path, name[1])
			}
			current := recorded(t, path, want, *update) && have == want
			if !current && !*update {
				t.Errorf("%s is not as templates/sql/%s.sql says; run go test ./scripts/architecture -run %s -update, which writes it and its checksum", path, name[1], t.Name())
			}
			if have != want && *update {
				return os.WriteFile(path, []byte(want), 0o644)
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

// recorded reports whether the state that has the checksum of a migration has that of a text: the
// one in a folder above, or in one beside it, which shares the migrations. It is written if it
// has not.
func recorded(t *testing.T, path, text string, write bool) bool {
	t.Helper()
	hash := sha256.Sum256([]byte(text))
	line := "  " + filepath.Base(path) + ": "
	sum := regexp.MustCompile(regexp.QuoteMeta(line) + "[0-9a-f]{64}")
	for dir := filepath.Dir(path); filepath.Base(dir) != ".."; dir = filepath.Dir(dir) {
		states, err := filepath.Glob(filepath.Join(dir, "*", "idem.state.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, state := range append(states, filepath.Join(dir, "idem.state.yaml")) {
			content, err := os.ReadFile(state)
			if err != nil || !sum.Match(content) {
				continue
			}
			now := sum.ReplaceAllString(string(content), line+hex.EncodeToString(hash[:]))
			if write {
				if err := os.WriteFile(state, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			return now == string(content)
		}
	}
	t.Fatalf("%s: no idem.state.yaml holds its checksum", path)
	return false
}
