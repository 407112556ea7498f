//go:build unix

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// signalTree signals a postmaster, then its children. Every backend is a session of its
// own, so no process group holds them all.
func signalTree(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	for _, child := range children(pid) {
		syscall.Kill(child, sig) // one that has just ended is as good
	}
	return nil
}

// killTree ends a server as a power cut does: stopped first, so that it starts nothing more
// and tells nobody.
func killTree(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, child := range children(pid) {
		syscall.Kill(child, syscall.SIGKILL)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

func children(pid int) []int {
	out, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		// No such file outside Linux. No children is exit status 1.
		out, _ = exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	}
	var pids []int
	for _, word := range strings.Fields(string(out)) {
		if n, err := strconv.Atoi(word); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}
