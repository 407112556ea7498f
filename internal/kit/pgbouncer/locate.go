//go:build unix

package pgbouncer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// program is a PgBouncer that runs.
type program struct {
	path      string
	libraries string // folders of its libraries, where they are not installed
}

// usual are where packages put the program: Debian, Red Hat, Homebrew.
var usual = []string{"pgbouncer", "/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"}

// locate finds the program, and fetches it if there is none.
func locate(ctx context.Context) (program, error) {
	if path := os.Getenv(EnvBin); path != "" {
		p := program{path: path}
		if err := p.runs(ctx); err != nil {
			return program{}, fmt.Errorf("%s=%s: %w", EnvBin, path, err)
		}
		return p, nil
	}
	for _, name := range usual {
		if path, err := exec.LookPath(name); err == nil {
			if p := (program{path: path}); p.runs(ctx) == nil {
				return p, nil
			}
		}
	}
	p, err := fetched(ctx)
	if err != nil {
		return program{}, &MissingError{err}
	}
	return p, nil
}

// runs asks the program for its version.
func (p program) runs(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.path, "--version")
	cmd.Env = p.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", p.path, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (p program) env() []string {
	env := []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	if p.libraries != "" {
		env = append(env, "LD_LIBRARY_PATH="+p.libraries)
	}
	return env
}

// MissingError says that no PgBouncer was found and names the commands that help.
type MissingError struct{ Err error } // why none could be fetched

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no PgBouncer found in $%s, PATH and the usual folders, and none fetched: %v
Any one of these helps:
  apt-get install -y pgbouncer
  dnf install -y pgbouncer
  brew install pgbouncer`, EnvBin, e.Err)
}

// Unwrap returns why none could be fetched.
func (e *MissingError) Unwrap() error { return e.Err }
