//go:build !linux

package dev

import "syscall"

func bound() *syscall.SysProcAttr { return nil }
