//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// alone calls f while no other call of alone with the same directory runs, of any process.
func alone(dir string, f func() error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		if err == nil {
			return f()
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "lock", Path: dir, Err: err}
		}
	}
}
