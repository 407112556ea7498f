//go:build unix

package kafkatest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

// once is a folder of the test kit's cache. fill, which is called once per machine and user, puts
// into another folder what is to be in it.
func once(what, lock, name string, fill func(work string) error) (string, error) {
	cache, err := postgres.CacheDir()
	if err != nil {
		return "", err
	}
	held, err := postgres.Lock(filepath.Join(cache, lock+".lock"))
	if err != nil {
		return "", err
	}
	defer held.Close()
	home := filepath.Join(cache, name)
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		return home, err
	}
	fmt.Fprintf(os.Stderr, "idemtest: fetching %s once, into %s\n", what, home)
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := fill(work); err != nil {
		return "", fmt.Errorf("fetch %s: %w", what, err)
	}
	return home, os.Rename(work, home)
}

// unpack writes a file of an archive into a folder. It may be a program: not every archive says
// which of its files are.
func unpack(dir, name string, from io.Reader) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q is outside of the archive", name)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}
