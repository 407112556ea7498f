package postgres

import (
	"os"
	"syscall"
)

// guarded are the attributes of a child that must not outlive this thread's process.
func guarded(a *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}

// bound is guarded for a program that does not end by SIGQUIT, such as Java's.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// executable is this program, readable by any account whatever folder it lies in.
func executable() (string, error) { return "/proc/self/exe", nil }

// roomy reports whether a folder can be written and has room for servers.
func roomy(dir string) bool {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Bavail*uint64(s.Bsize) < shmNeeds {
		return false
	}
	probe, err := os.MkdirTemp(dir, dirPrefix+"probe-")
	if err != nil {
		return false
	}
	return os.Remove(probe) == nil
}
