//go:build !unix

package program

import "errors"

// Program cannot run on this system.
type Program struct {
	Dir  string
	Argv []string
	Env  []string
}

var errSystem = errors.New("servers of the test kit run on Unix only")

// Start fails.
func (p *Program) Start() error { return errSystem }

// Ended is always true.
func (p *Program) Ended() bool { return true }

// Freeze fails.
func (p *Program) Freeze() error { return errSystem }

// Thaw fails.
func (p *Program) Thaw() error { return errSystem }

// Kill fails.
func (p *Program) Kill() error { return errSystem }

// Log is empty.
func (p *Program) Log() string { return "" }
