//go:build !linux

package stage

import "syscall"

func bound() *syscall.SysProcAttr { return nil }
