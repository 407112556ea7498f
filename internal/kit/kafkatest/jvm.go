//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/kit/postgres"
	"github.com/idemgen/idemgen/internal/kit/program"
)

// jvm is how a program of Java is started.
type jvm struct{ java, jars string }

// kafkaJava is the oldest Java that Kafka 4 runs in.
const kafkaJava = 17

func newJVM(ctx context.Context) (jvm, error) {
	path, err := java(ctx, kafkaJava)
	if err != nil {
		return jvm{}, err
	}
	folder, err := jars(ctx)
	return jvm{path, folder}, err
}

// argv is the command line of a class. Starts are quick, and the second compiler is left out.
func (j jvm) argv(heap, class string, args ...string) []string {
	argv := []string{
		j.java, "-Xmx" + heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.log.io.debezium=info", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", filepath.Join(j.jars, "*"), class,
	}
	return append(argv, args...)
}

// run runs a class to its end.
func (j jvm) run(ctx context.Context, class string, args ...string) error {
	argv := j.argv("128m", class, args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = postgres.Bound()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", class, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// server is a program of Java with a folder of its own.
type server struct {
	dir     string
	program *program.Program
}

const startTimeout = 2 * time.Minute

// begin starts the program, and waits until ask finds that it answers.
func (s *server) begin(ctx context.Context, ask func(context.Context) error) error {
	if err := s.program.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		err := ask(limited)
		cancel()
		switch {
		case err == nil:
			return nil
		case s.program.Ended():
			return fmt.Errorf("the server ended at its start\n%s", s.Log())
		case ctx.Err() != nil, time.Now().After(end):
			return errors.Join(fmt.Errorf("the server does not answer: %w", err), s.Crash())
		}
	}
}

// Crash ends the server with kill -9. What it had on disk stays for Restart.
func (s *server) Crash() error { return s.program.Kill() }

// Freeze stops the server where it is: connections stay open and silent.
func (s *server) Freeze() error { return s.program.Freeze() }

// Thaw lets a frozen server go on.
func (s *server) Thaw() error { return s.program.Thaw() }

// Log is what the server wrote.
func (s *server) Log() string { return s.program.Log() }

// Close ends the server and removes what it kept. A second Close does nothing.
func (s *server) Close() error {
	_ = s.program.Kill() // it may have ended
	return os.RemoveAll(s.dir)
}

// writeProperties writes a file of settings.
func writeProperties(file string, settings map[string]string) error {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&lines, "%s=%s\n", name, settings[name])
	}
	return os.WriteFile(file, []byte(lines.String()), 0o600)
}

// freeAddrs are n addresses of this machine on which nobody listens.
func freeAddrs(n int) (addrs []string, err error) {
	for range n {
		addr, errFree := port.FreeAddr()
		addrs, err = append(addrs, addr), errors.Join(err, errFree)
	}
	return addrs, err
}
