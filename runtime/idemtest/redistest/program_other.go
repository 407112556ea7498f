//go:build !unix

package redistest

import (
	"context"
	"errors"
)

// program cannot run on this system.
type program struct {
	dir  string
	argv []string
}

var errSystem = errors.New("Redis servers run on Unix only")

func fetched(context.Context) (string, error) { return "", errSystem }

func freePort() (int, error) { return 0, errSystem }

func (p *program) start() error  { return errSystem }
func (p *program) ended() bool   { return true }
func (p *program) freeze() error { return errSystem }
func (p *program) thaw() error   { return errSystem }
func (p *program) kill() error   { return errSystem }
func (p *program) log() string   { return "" }
