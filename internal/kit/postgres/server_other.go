//go:build !unix

package postgres

import (
	"context"
	"errors"
)

// Server cannot run on this system; use $IDEMTEST_DATABASE_URL.
type Server struct{}

// Options choose a server.
type Options struct {
	Major   int
	Durable bool
	TCP     bool
	Conf    map[string]string
	Dir     string
	Env     []string
	Files   map[string]string
}

var errSystem = errors.New("servers run on Unix only: set " + EnvURL)

func fetched(context.Context, int) (Binaries, error) { return Binaries{}, errSystem }

// Start fails.
func Start(context.Context, Options) (*Server, error) { return nil, errSystem }

// URL is empty.
func (s *Server) URL() string { return "" }

// Crash fails.
func (s *Server) Crash() error { return errSystem }

// Restart fails.
func (s *Server) Restart() error { return errSystem }

// Shutdown fails.
func (s *Server) Shutdown() error { return errSystem }

// Standby fails.
func (s *Server) Standby(context.Context, string, Options) (*Server, error) { return nil, errSystem }

// Freeze fails.
func (s *Server) Freeze() error { return errSystem }

// Thaw fails.
func (s *Server) Thaw() error { return errSystem }

// Close does nothing.
func (s *Server) Close() error { return nil }
