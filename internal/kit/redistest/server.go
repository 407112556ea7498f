package redistest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/kit/program"
)

// Server is a Redis server that runs until it is closed, or this process ends.
type Server struct {
	port    int
	program *program.Program
}

// Start runs a server until the test ends. conf is what differs from Redis's defaults, as in
// redis.conf: {"appendonly": "yes"}. Without it the server keeps everything in memory.
func Start(t testing.TB, conf map[string]string) *Server {
	t.Helper()
	s, err := Run(t.Context(), conf)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the Redis server at %s:\n%s", s.Addr(), s.program.Log())
		}
		s.Close()
	})
	return s
}

// Run is [Start] for a program that is not a test, until Close. ctx limits only the start.
func Run(ctx context.Context, conf map[string]string) (*Server, error) {
	return run(ctx, conf, nil)
}

// run starts a server, or a sentinel, whose configuration then begins with lines. It looks for a
// free port again if somebody else took it meanwhile.
func run(ctx context.Context, conf map[string]string, sentinel []string) (*Server, error) {
	path, err := locate(ctx)
	if err != nil {
		return nil, err
	}
	for range 5 {
		s, err := runOn(ctx, path, conf, sentinel)
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return s, err
		}
	}
	return nil, errors.New("no free port was found for Redis")
}

func runOn(ctx context.Context, path string, conf map[string]string, sentinel []string) (*Server, error) {
	port, err := port.Free()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idemtest-redis-")
	if err != nil {
		return nil, err
	}
	all := map[string]string{"port": fmt.Sprint(port), "bind": "127.0.0.1", "dir": dir, "loglevel": "warning"}
	if sentinel == nil {
		maps.Copy(all, map[string]string{"save": `""`, "appendonly": "no"})
	}
	maps.Copy(all, conf)
	lines := slices.Clone(sentinel)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, name+" "+all[name])
	}
	file := filepath.Join(dir, "redis.conf")
	s := &Server{port: port, program: &program.Program{Dir: dir, Argv: []string{path, file}}}
	if sentinel != nil {
		s.program.Argv = append(s.program.Argv, "--sentinel")
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.Restart(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w\n%s", path, err, s.program.Log()), s.Close())
	}
	return s, nil
}

// Addr is the server's host and port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Do sends one command on a connection of its own, and returns what the server answers: a string,
// an int64, nil or a list of these. An error of the server is an error.
func (s *Server) Do(ctx context.Context, words ...string) (any, error) {
	return ask(ctx, s.Addr(), words...)
}

// Crash ends the server with kill -9. What it had on disk stays for Restart.
func (s *Server) Crash() error { return s.program.Kill() }

// Restart starts a server that crashed, at the same address, and waits until it answers.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.program.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(startTimeout); ; time.Sleep(5 * time.Millisecond) {
		_, err := s.Do(ctx, "PING")
		switch {
		case err == nil:
			return nil
		case s.program.Ended():
			return errors.New("the server ended at its start")
		case ctx.Err() != nil, time.Now().After(end):
			return errors.Join(fmt.Errorf("the server does not answer: %w", err), s.Crash())
		}
	}
}

const startTimeout = 30 * time.Second

// Freeze stops the server where it is: connections stay open and silent.
func (s *Server) Freeze() error { return s.program.Freeze() }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() error { return s.program.Thaw() }

// Close ends the server and removes what it kept. A second Close does nothing.
func (s *Server) Close() error {
	s.program.Kill() // it may have ended
	return os.RemoveAll(s.program.Dir)
}
