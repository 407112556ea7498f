//go:build unix

package maven

import (
	"strings"
	"testing"
)

// An archive that is not the pinned one is refused, whatever is in it.
func TestOtherArchivesAreRefused(t *testing.T) {
	sum := strings.Repeat("0", 64)
	if err := (Archive{"a/b.jar", sum}).checked([]byte("another archive")); err == nil || !strings.Contains(err.Error(), sum) {
		t.Errorf("error %v", err)
	}
}

// Where archives come from is read without a request.
func TestRepositoryIsFound(t *testing.T) {
	repository, err := findRepository(t.TempDir())
	if err != nil || !strings.HasPrefix(repository, "https://") || !strings.HasSuffix(repository, "/") {
		t.Errorf("%q (%v)", repository, err)
	}
}

func TestCoordinates(t *testing.T) {
	a, err := Jar("org.example.sub:part:1.2", "s")
	if err != nil || a.Path != "org/example/sub/part/1.2/part-1.2.jar" || a.Sum != "s" {
		t.Errorf("%+v (%v)", a, err)
	}
	if _, err := Jar("org.example:part", ""); err == nil {
		t.Error("two parts are coordinates")
	}
}
