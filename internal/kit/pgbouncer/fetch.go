//go:build unix

package pgbouncer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

const fetchTimeout = 5 * time.Minute

// fetched returns the program from the cache, into which Debian's package is unpacked once per
// machine and user. apt checks what it downloads.
func fetched(ctx context.Context) (program, error) {
	cache, err := postgres.CacheDir()
	if err != nil {
		return program{}, err
	}
	lock, err := postgres.Lock(filepath.Join(cache, "pgbouncer.lock"))
	if err != nil {
		return program{}, err
	}
	defer lock.Close()
	home := filepath.Join(cache, "pgbouncer")
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "idemtest: fetching PgBouncer once, into %s\n", home)
		if err := fetch(ctx, cache, home); err != nil {
			return program{}, err
		}
	}
	p := program{path: filepath.Join(home, "usr/sbin/pgbouncer")}
	var folders []string
	for _, pattern := range []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			return program{}, err
		}
		folders = append(folders, found...)
	}
	p.libraries = strings.Join(folders, ":")
	return p, p.runs(ctx)
}

// fetch downloads the package and the libraries that it names, and unpacks them.
func fetch(ctx context.Context, cache, home string) error {
	for _, name := range []string{"apt-get", "apt-cache", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	a := apt{ctx: ctx, dir: work}
	packages, err := a.packages()
	if err != nil { // this machine's lists are missing: make some that are nobody else's
		if err := a.update(); err != nil {
			return err
		}
		if packages, err = a.packages(); err != nil {
			return err
		}
	}
	if _, err := a.run("apt-get", append([]string{"download"}, packages...)...); err != nil {
		return err
	}
	unpacked := filepath.Join(work, "unpacked")
	files, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := a.run("dpkg-deb", "-x", file, unpacked); err != nil {
			return err
		}
	}
	return os.Rename(unpacked, home)
}

// apt runs Debian's tools in a folder.
type apt struct {
	ctx     context.Context
	dir     string
	options []string
}

func (a *apt) run(name string, args ...string) (string, error) {
	if name != "dpkg-deb" {
		args = append(args, a.options...)
	}
	cmd := exec.CommandContext(a.ctx, name, args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// update makes lists of packages in the folder, which needs no right but the network's.
func (a *apt) update() error {
	lists, archives := filepath.Join(a.dir, "lists"), filepath.Join(a.dir, "archives")
	if err := errors.Join(os.MkdirAll(filepath.Join(lists, "partial"), 0o755), os.MkdirAll(filepath.Join(archives, "partial"), 0o755)); err != nil {
		return err
	}
	a.options = []string{"-o", "Dir::State::lists=" + lists, "-o", "Dir::Cache=" + archives, "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User="}
	_, err := a.run("apt-get", "update")
	return err
}

// packages are PgBouncer's and those of its libraries, without the C library's.
func (a *apt) packages() ([]string, error) {
	out, err := a.run("apt-cache", "depends", "pgbouncer")
	if err != nil {
		return nil, err
	}
	all := []string{"pgbouncer"}
	for line := range strings.Lines(out) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: ")
		if ok && strings.HasPrefix(name, "lib") && name != "libc6" {
			all = append(all, name)
		}
	}
	return all, nil
}
