//go:build unix

package postgres

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// superuser owns every database of a server.
const superuser = "idemtest"

// initArgs make a cluster that nobody reaches by TCP without the password; the socket is
// guarded by its directory.
var initArgs = []string{
	"--username=" + superuser, "--auth-local=trust", "--auth-host=scram-sha-256",
	"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions",
}

// newCluster puts a fresh data directory at dir/data and returns the superuser's password. initdb
// takes about a second, so it runs once per build and account; later clusters copy
// its result, and share its system identifier and password.
func newCluster(bin Binaries, dir string, a *syscall.Credential) (password string, err error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	key := fmt.Sprint(bin.Dir, bin.Version, a, initArgs)
	sum := sha256.Sum256([]byte(key))
	made := filepath.Join(cache, "initdb-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(made); errors.Is(err, fs.ErrNotExist) {
		if err := runInitdb(bin, dir, made, a); err != nil {
			return "", err
		}
	}
	secret, err := os.ReadFile(filepath.Join(made, "password"))
	if err != nil {
		return "", err
	}
	return string(secret), copyTree(filepath.Join(made, "data"), filepath.Join(dir, "data"), a)
}

// newStandby puts a copy of a primary's data at dir/data, which will follow it.
func newStandby(primary, dir string, a *syscall.Credential) error {
	data := filepath.Join(dir, "data")
	if err := copyTree(primary, data, a); err != nil {
		return err
	}
	signal := filepath.Join(data, "standby.signal")
	return errors.Join(os.WriteFile(signal, nil, 0o600), give(signal, a))
}

// addFiles writes files into a folder, for one owner.
func addFiles(files map[string]string, dir string, owner *syscall.Credential) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), give(path, owner)); err != nil {
			return err
		}
	}
	return nil
}

// runInitdb runs initdb in dir and puts its result at made, whole or not at all.
func runInitdb(bin Binaries, dir, made string, a *syscall.Credential) error {
	work := filepath.Join(dir, "initdb")
	defer os.RemoveAll(work)
	if err := errors.Join(os.Mkdir(work, 0o700), give(work, a)); err != nil {
		return err
	}
	secret := filepath.Join(work, "password")
	if err := os.WriteFile(secret, []byte(rand.Text()), 0o600); err != nil {
		return err
	}
	if err := give(secret, a); err != nil {
		return err
	}
	args := append([]string{"--pgdata=" + filepath.Join(work, "data"), "--pwfile=" + secret}, initArgs...)
	if out, err := command(bin, dir, a, "initdb", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	fresh, err := os.MkdirTemp(filepath.Dir(made), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := copyTree(work, filepath.Join(fresh, "cluster"), nil); err != nil {
		return err
	}
	err = os.Rename(filepath.Join(fresh, "cluster"), made)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil // somebody else was faster; theirs is as good
	}
	return err
}

// command runs a program of bin under the account, in a folder that the account may read
// and without this process's environment.
func command(bin Binaries, dir string, a *syscall.Credential, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin.Dir, name), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=" + dir}
	cmd.SysProcAttr = guarded(a)
	return cmd
}

// copyTree copies folders and plain files, which is all that a cluster has, for one owner.
func copyTree(from, to string, owner *syscall.Credential) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			err = os.Mkdir(target, 0o700)
		} else {
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				err = os.WriteFile(target, content, 0o600)
			}
		}
		return errors.Join(err, give(target, owner))
	})
}
