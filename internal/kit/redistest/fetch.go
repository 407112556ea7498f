//go:build unix

package redistest

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/idemgen/idemgen/internal/kit/maven"
	"github.com/idemgen/idemgen/internal/kit/postgres"
)

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
	if err := maven.Fetch(ctx, work, archive); err != nil {
		return "", fmt.Errorf("fetch Redis: %w", err)
	}
	if err := unpack(filepath.Join(work, path.Base(archive.Path)), build, unpacked); err != nil {
		return "", fmt.Errorf("unpack Redis: %w", err)
	}
	return program, os.Rename(unpacked, program)
}

// unpack writes one file of an archive, as a program.
func unpack(archive, name, to string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	from, err := r.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close(), os.Chmod(to, 0o755)) // whatever the umask is
}
