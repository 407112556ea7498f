package redistest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// usual are the program's names, and where packages put it: Debian, Red Hat, Homebrew, source.
var usual = []string{
	"redis-server", "valkey-server", "/usr/sbin/redis-server", "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server",
}

// locate finds the program, and fetches it if there is none.
func locate(ctx context.Context) (string, error) {
	if path := os.Getenv(EnvBin); path != "" {
		if err := runs(ctx, path); err != nil {
			return "", fmt.Errorf("%s=%s: %w: name the program redis-server, or unset it, and PATH and the usual folders are searched", EnvBin, path, err)
		}
		return path, nil
	}
	for _, name := range usual {
		if path, err := exec.LookPath(name); err == nil && runs(ctx, path) == nil {
			return path, nil
		}
	}
	path, err := fetched(ctx)
	if err == nil {
		err = runs(ctx, path)
	}
	if err != nil {
		return "", &MissingError{err}
	}
	return path, nil
}

// runs asks the program for its version.
func runs(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// MissingError says that no Redis was found and names the commands that help.
type MissingError struct{ Err error }

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no Redis found in $%s, PATH and the usual folders, and none fetched that runs: %v
Any one of these helps:
  apt-get install -y redis-server   (and stop the service that it starts)
  apt-get install -y libssl3        (where the fetched build misses libssl.so.3)
  brew install redis
  export %s=/path/of/redis-server`, EnvBin, e.Err, EnvBin)
}

// Unwrap returns why none could be fetched.
func (e *MissingError) Unwrap() error { return e.Err }
