//go:build unix

package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const fetchTimeout = 5 * time.Minute

// fetchOrder is what the fetching child reads.
type fetchOrder struct {
	Version string
	SHA256  string
	Dir     string // a folder of its own
}

// fetched returns the pinned build of a major version, which it fetches once per machine
// and user.
func fetched(ctx context.Context, major int) (Binaries, error) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	p, ok := pins[platform][major]
	if !ok {
		return Binaries{}, fmt.Errorf("no build of PostgreSQL %d is pinned for %s", major, platform)
	}
	cache, err := cacheDir()
	if err != nil {
		return Binaries{}, err
	}
	home := filepath.Join(cache, "postgres-"+p.version)
	bin := filepath.Join(home, "bin")
	if _, err := os.Stat(home); err == nil {
		return inspect(ctx, bin)
	}
	lock, err := lockFile(filepath.Join(cache, "fetch.lock"), true)
	if err != nil {
		return Binaries{}, err
	}
	defer lock.Close()
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "idemtest: fetching PostgreSQL %s once, into %s\n", p.version, home)
		if err := fetch(ctx, p, cache, home); err != nil {
			return Binaries{}, fmt.Errorf("fetch PostgreSQL %s: %w", p.version, err)
		}
	}
	return inspect(ctx, bin)
}

// fetch has a child under the servers' account fetch and unpack, and moves the result to home.
func fetch(ctx context.Context, p pin, cache, home string) error {
	a := account()
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := give(work, a); err != nil {
		return err
	}
	exe, err := executable()
	if err != nil {
		return err
	}
	order, err := json.Marshal(fetchOrder{Version: p.version, SHA256: p.sha256, Dir: work})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	// Pdeathsig follows the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Dir = work
	cmd.Env = append(fetchEnv(), roleEnv+"="+roleFetcher, "HOME="+work, "TMPDIR="+work)
	cmd.Stdin = bytes.NewReader(order)
	cmd.SysProcAttr = guarded(a)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(ctx.Err(), err), strings.TrimSpace(string(out)))
	}
	unpacked := filepath.Join(work, unpackDir)
	if err := own(unpacked); err != nil {
		return err
	}
	return os.Rename(unpacked, home)
}

// fetchEnv is the part of the environment that leads to the network; the rest is not for
// the servers' account.
func fetchEnv() []string {
	env := []string{"PATH=/usr/bin:/bin"}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// own takes a tree away from the account, which may read and run it but not change it.
func own(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, os.Geteuid(), os.Getegid())
		}
		if err != nil || entry.Type() == fs.ModeSymlink {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mine := info.Mode().Perm() & 0o700
		others := mine &^ 0o200
		return os.Chmod(path, mine|others>>3|others>>6)
	})
}
