package architecture

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A loop that waits for a condition gives up after a minute or later: a busy machine takes half of
// that. A loop of a few seconds watches that something stays as it is.
func TestWaitsArePatient(t *testing.T) {
	loop := regexp.MustCompile(`for \w+ := time\.Now\(\)\.Add\((\d+) ?\* ?time\.Second\)`)
	waits := 0
	for _, room := range []string{"runtime", "cmd", "generator", "internal", "examples", "bench", "scripts"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text := read(t, path)
			waits += strings.Count(text, ":= time.Now().Add(time.Minute);")
			for _, found := range loop.FindAllStringSubmatch(text, -1) {
				if seconds, err := strconv.Atoi(found[1]); err != nil || seconds >= 10 && seconds < 60 {
					t.Errorf("%s: a wait of %s s", path, found[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if waits < 20 {
		t.Errorf("only %d waits of a minute are found", waits)
	}
}
