//go:build unix

package postgres

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// cacheDir holds fetched builds and results of initdb. Root's own home is closed to the servers'
// account; a user without a home gets a folder beside the temporary files.
func cacheDir() (string, error) {
	if os.Geteuid() == 0 {
		return ownFolder("/var/cache/idemgen")
	}
	if base, err := os.UserCacheDir(); err == nil {
		if dir, err := ownFolder(filepath.Join(base, "idemgen")); err == nil {
			return dir, nil
		}
	}
	return ownFolder(filepath.Join(os.TempDir(), fmt.Sprintf("idemgen-cache-%d", os.Geteuid())))
}

// ownFolder makes a folder that all may read. One that is another user's is refused, because
// programs from it are run.
func ownFolder(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(s.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is not a folder of this user", dir)
	}
	return dir, os.Chmod(dir, 0o755) // whatever the umask is
}

// lockFile takes an exclusive lock that ends with the returned file. Without wait it fails when
// another process holds it.
func lockFile(path string, wait bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
