//go:build unix

package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// A server's directory holds its data, its socket, its log and a lock that its supervisor
// holds as long as it lives: a directory with a free lock is a leftover.
const (
	dirPrefix  = "idemtest-pg-"
	lockName   = "lock"
	shm        = "/dev/shm"
	shmNeeds   = 512 << 20 // bytes that must be free in memory
	socketPath = 103       // bytes at most, of the shortest limit there is
)

// place is the folder for a server's directory: memory where it has room and nothing
// has to outlast a crash of the machine, else the disk.
func place(durable bool) string {
	if !durable && roomy(shm) {
		return shm
	}
	tmp := os.TempDir()
	if len(tmp)+len("/"+dirPrefix+"1234567890/.s.PGSQL.65535") > socketPath {
		return "/tmp"
	}
	return tmp
}

// newDirectory makes a server's directory, owned by the account, and locks it.
func newDirectory(base string, a *syscall.Credential) (dir string, lock *os.File, err error) {
	dir, err = os.MkdirTemp(base, dirPrefix)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	// The lock gets its name once it is held, or a sweep could take it first.
	fresh := filepath.Join(dir, lockName+".new")
	if lock, err = lockFile(fresh, false); err != nil {
		return "", nil, err
	}
	if err = os.Rename(fresh, filepath.Join(dir, lockName)); err != nil {
		return "", nil, err
	}
	return dir, lock, give(dir, a)
}

// sweep removes the directories that killed supervisors left in the bases. A postmaster that
// lives on without one (only outside Linux) ends by itself when its pid file is gone.
func sweep(a *syscall.Credential, bases ...string) error {
	uid := os.Geteuid()
	if a != nil {
		uid = int(a.Uid)
	}
	slices.Sort(bases)
	var failed []error
	for _, base := range slices.Compact(bases) {
		dirs, err := filepath.Glob(filepath.Join(base, dirPrefix+"*"))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if leftover(dir, uid) {
				failed = append(failed, os.RemoveAll(dir))
			}
		}
	}
	return errors.Join(failed...)
}

// leftover reports whether dir is a server's directory of ours that no supervisor holds.
func leftover(dir string, uid int) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) != uid {
		return false
	}
	path := filepath.Join(dir, lockName)
	if _, err := os.Lstat(path); err != nil {
		return os.IsNotExist(err) && time.Since(info.ModTime()) > 10*time.Minute // not one in the making
	}
	lock, err := lockFile(path, false)
	if err != nil {
		return false
	}
	lock.Close()
	return true
}
