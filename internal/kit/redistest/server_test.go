package redistest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/redistest"
)

func do(t *testing.T, s *redistest.Server, words ...string) any {
	t.Helper()
	answer, err := s.Do(t.Context(), words...)
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return answer
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// What a server keeps through a crash is what its settings say.
func TestServerThatCrashed(t *testing.T) {
	for _, c := range []struct {
		conf map[string]string
		kept any
	}{
		{nil, nil},
		{map[string]string{"appendonly": "yes", "appendfsync": "always"}, "value"},
	} {
		s := redistest.Start(t, c.conf)
		do(t, s, "SET", "key", "value")
		want(t, "before", do(t, s, "GET", "key"), "value")
		if err := s.Crash(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Do(t.Context(), "GET", "key"); err == nil {
			t.Error("a server that crashed answers")
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, "after", do(t, s, "GET", "key"), c.kept)
	}
}

func TestServerIsClosed(t *testing.T) {
	s, err := redistest.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := do(t, s, "CONFIG", "GET", "dir").([]any)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Do(t.Context(), "PING"); err == nil {
		t.Error("a closed server answers")
	}
	if dir := list[1].(string); !strings.Contains(dir, "idemtest-redis-") || exists(dir) {
		t.Errorf("%s is there still", dir)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Settings that Redis refuses are an error with Redis's own words.
func TestServerThatDoesNotStart(t *testing.T) {
	_, err := redistest.Run(t.Context(), map[string]string{"maxmemory-policy": "none-such"})
	if err == nil || !strings.Contains(err.Error(), "ended at its start") || !strings.Contains(err.Error(), "maxmemory-policy") {
		t.Errorf("error %v", err)
	}
}

// A program that is no Redis is an error that says what to do, and no skip.
func TestProgramThatIsNoRedis(t *testing.T) {
	program := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho libssl.so.3 is missing >&2; exit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(redistest.EnvBin, program)
	_, err := redistest.Run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "libssl.so.3 is missing") || !strings.Contains(err.Error(), redistest.EnvBin) {
		t.Errorf("error %v", err)
	}
}
