//go:build unix

package postgres

import (
	"os"
	"syscall"
)

// Account is the uid that servers run under; nil is this process's own.
func Account() *syscall.Credential { return account() }

// Give makes the account the owner of path.
func Give(path string, a *syscall.Credential) error { return give(path, a) }

// Guarded are the attributes of a child that must not outlive the thread that starts it.
func Guarded(a *syscall.Credential) *syscall.SysProcAttr { return guarded(a) }

// Bound are the attributes of a child that is killed when the thread that starts it ends.
func Bound() *syscall.SysProcAttr { return bound() }

// CacheDir holds what was fetched once per machine and user.
func CacheDir() (string, error) { return cacheDir() }

// Lock waits for an exclusive lock that ends with the returned file.
func Lock(path string) (*os.File, error) { return lockFile(path, true) }
