// Package stage runs a generated service as people do: built by the go command, as processes of
// the operating system that can be asked to end, killed, frozen and followed by what they log.
// It must not import any other package of this module.
package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Build builds commands of this module into dir; packages are paths below its root, where
// this program runs.
func Build(ctx context.Context, dir string, packages ...string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	return Go(ctx, args...)
}

// Go runs the go command.
func Go(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Pause waits for d, or until ctx ends, which is an error.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// ErrTimeout is what Until returns when its time is over.
var ErrTimeout = errors.New("it did not happen in time")

// Until waits until done says so.
func Until(ctx context.Context, patience time.Duration, done func() (bool, error)) error {
	for deadline := time.Now().Add(patience); ; {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return ErrTimeout
		}
		if err := Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
