//go:build unix

package redistest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest/internal/postgres"
)

const fetchTimeout = 5 * time.Minute

// fetched returns the program from the cache, into which it is unpacked once per machine and user.
func fetched(ctx context.Context) (string, error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	build, ok := builds[platform]
	if !ok {
		return "", fmt.Errorf("no build of Redis is pinned for %s", platform)
	}
	cache, err := postgres.CacheDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, build)
	lock, err := postgres.Lock(filepath.Join(cache, "redis.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	fmt.Fprintf(os.Stderr, "idemtest: fetching Redis once, into %s\n", program)
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	unpacked := filepath.Join(work, build)
	if err := fetch(ctx, unpacked); err != nil {
		return "", fmt.Errorf("fetch Redis: %w", err)
	}
	return program, os.Rename(unpacked, program)
}

// fetch has a child write the program to a path. The child gives its HTTP client away to a
// library, which a process with other work must not.
func fetch(ctx context.Context, to string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), roleEnv+"="+roleFetcher)
	cmd.Stdin = bytes.NewReader([]byte(to))
	cmd.SysProcAttr = postgres.Guarded(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(ctx.Err(), err), strings.TrimSpace(string(out)))
	}
	return nil
}
