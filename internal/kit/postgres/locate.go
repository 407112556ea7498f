package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Binaries is an installed PostgreSQL.
type Binaries struct {
	Dir     string // holds postgres and initdb
	Version string // as in "17.11"
	Major   int
}

// usualDirs are where packages put the programs: Debian, Red Hat, Homebrew, Postgres.app, source.
var usualDirs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

// Locate finds the programs of a major version, or for 0 of the newest one: in
// $IDEMTEST_POSTGRES_BIN, in PATH, in the usual folders, and last by fetching a pinned build
// once. Its error names the commands that help.
func Locate(ctx context.Context, major int) (Binaries, error) {
	if dir := os.Getenv(EnvBin); dir != "" {
		b, err := inspect(ctx, dir)
		if err == nil && !b.fits(major) {
			err = fmt.Errorf("it is PostgreSQL %s, not %s", b.Version, wanted(major))
		}
		if err != nil {
			return Binaries{}, fmt.Errorf("%s=%s: %w: name the folder of the programs postgres and initdb, or unset it, and PATH and the usual folders are searched", EnvBin, dir, err)
		}
		return b, nil
	}
	for _, dir := range installed() {
		if b, err := inspect(ctx, dir); err == nil && b.fits(major) {
			return b, nil
		}
	}
	b, err := fetched(ctx, cmp.Or(major, defaultMajor))
	if err != nil {
		return Binaries{}, &MissingError{Major: major, Err: err}
	}
	return b, nil
}

// installed lists the folders to search, newest version first within a pattern.
func installed() []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// Distributions link single programs into /usr/bin; the others lie beside the real one.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	for _, pattern := range usualDirs {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.SortFunc(found, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(b, a)) // 17 before 9.6
		})
		dirs = append(dirs, found...)
	}
	return dirs
}

// inspect asks the programs in dir for their version.
func inspect(ctx context.Context, dir string) (Binaries, error) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return Binaries{}, err
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "-V").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("%s -V: %w", filepath.Join(dir, "postgres"), err)
	}
	words := strings.Fields(string(out)) // postgres (PostgreSQL) 15.18 (Debian 15.18-1)
	if len(words) < 3 {
		return Binaries{}, errors.New("postgres -V prints no version")
	}
	// A release to come says 19beta1 or 19devel.
	digits := strings.IndexFunc(words[2], func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(words[2])
	}
	major, err := strconv.Atoi(words[2][:digits])
	if err != nil {
		return Binaries{}, fmt.Errorf("postgres -V prints the version %q", words[2])
	}
	return Binaries{Dir: dir, Version: words[2], Major: major}, nil
}

func (b Binaries) fits(major int) bool {
	if major == 0 {
		return b.Major >= OldestMajor
	}
	return b.Major == major
}

func wanted(major int) string {
	if major == 0 {
		return fmt.Sprintf("%d or newer", OldestMajor)
	}
	return strconv.Itoa(major)
}

// MissingError says that no PostgreSQL was found and names the commands that help.
type MissingError struct {
	Major int   // asked for; 0 is any
	Err   error // why none could be fetched
}

func (e *MissingError) Error() string {
	major := cmp.Or(e.Major, defaultMajor)
	return fmt.Sprintf(`no PostgreSQL %s found in $%s, PATH and the usual folders, and none fetched: %v
Any one of these helps:
  apt-get install -y postgresql-%d
  brew install postgresql@%d
  export %s=/folder/of/the/programs/postgres/and/initdb
  export %s=postgres://superuser:password@host:5432/postgres%s`,
		wanted(e.Major), EnvBin, e.Err, major, major, EnvBin, EnvURL, otherMajor())
}

// otherMajor is the command that lets any version do, if the environment asks for one.
func otherMajor() string {
	if os.Getenv(EnvMajor) == "" {
		return ""
	}
	return "\n  unset " + EnvMajor
}

// Unwrap returns why none could be fetched.
func (e *MissingError) Unwrap() error { return e.Err }
