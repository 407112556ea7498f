package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program writes a postgres and an initdb that only know a version.
func program(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMissingMajorNamesCommands(t *testing.T) {
	t.Setenv(EnvBin, "")
	t.Setenv(EnvMajor, "99")
	_, err := Locate(t.Context(), 99)
	if err == nil {
		t.Fatal("PostgreSQL 99 was found")
	}
	for _, command := range []string{"\n  apt-get install -y postgresql-99\n", "\n  brew install postgresql@99\n", "\n  export IDEMTEST_POSTGRES_BIN=/", "\n  export IDEMTEST_DATABASE_URL=postgres://", "\n  unset IDEMTEST_POSTGRES_MAJOR"} {
		if !strings.Contains(err.Error(), command) {
			t.Errorf("no %q in: %v", command, err)
		}
	}
}

func TestLocate(t *testing.T) {
	for _, test := range []struct {
		version string
		major   int
		want    int // 0 is an error
		says    string
	}{
		{"17.11 (Debian 17.11-1)", 0, 17, ""},
		{"17.11", 17, 17, ""},
		{"19beta1", 19, 19, ""},
		{"16.1", 17, 0, "it is PostgreSQL 16.1, not 17"},
		{"9.6.24", 0, 0, "it is PostgreSQL 9.6.24, not 14 or newer"},
		{"unknown", 0, 0, "unknown"},
	} {
		t.Setenv(EnvBin, program(t, test.version))
		b, err := Locate(t.Context(), test.major)
		if test.want != 0 && (err != nil || b.Major != test.want) {
			t.Errorf("%s for %d: got %d, %v", test.version, test.major, b.Major, err)
		}
		if test.want == 0 && (err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), EnvBin)) {
			t.Errorf("%s for %d: got %v", test.version, test.major, err)
		}
	}
}

func TestPathComesBeforeUsualFolders(t *testing.T) {
	t.Setenv(EnvBin, "")
	t.Setenv("PATH", program(t, "77.1")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if b, err := Locate(t.Context(), 0); err != nil || b.Major != 77 {
		t.Errorf("got %d, %v", b.Major, err)
	}
}
