//go:build unix && !linux

package postgres

import (
	"os"
	"syscall"
)

// guarded are the attributes of a child; here only the supervisor ends it.
func guarded(a *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a, Setpgid: true}
}

func bound() *syscall.SysProcAttr { return guarded(nil) }

func executable() (string, error) { return os.Executable() }

// roomy is false: there is no folder in memory.
func roomy(string) bool { return false }
