package dev

import "syscall"

// bound are the attributes of a child that is killed when the thread that starts it ends.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
