package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// stopFaults ask processes to end.
var stopFaults = []fault{
	{name: "SIGTERM in the middle of a batch", do: termOnce},
	{name: "SIGTERM twice", do: termTwice},
}

// termOnce ends processes while handlers take their time; each must end by itself, cleanly.
func termOnce(ctx context.Context, t *theatre) (string, error) {
	const rounds = 4
	err := t.load(ctx, rate/8, func() error {
		for range rounds {
			p, err := t.start(ctx, script.Handler+"="+script.Slow)
			if err == nil {
				err = p.Works(ctx)
			}
			if err == nil {
				err = t.moves(ctx, 10, patience)
			}
			if err != nil {
				return err
			}
			t.forget(p)
			if err := p.Stop(); err != nil {
				return err
			}
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d times, each within 20 s and with code 0", rounds), err
}

// termTwice sends each program of the service a second signal while the database does not answer;
// that ends the program at once.
func termTwice(ctx context.Context, t *theatre) (string, error) {
	err := t.load(ctx, rate, func() error {
		for _, program := range programs {
			name := path.Base(program)
			p, err := t.launch(ctx, nil, t.kit.program(name))
			if err == nil {
				err = p.Works(ctx)
			}
			if err == nil {
				err = t.moves(ctx, 100, patience)
			}
			if err != nil {
				return err
			}
			t.forget(p)
			if err := t.postgres.Freeze(); err != nil {
				return err
			}
			err = errors.Join(stage.Pause(ctx, 500*time.Millisecond), p.Term()) // in the middle of a batch by then
			if p.Wait(300 * time.Millisecond) {
				err = errors.Join(err, fmt.Errorf("%s did not finish its batch", name))
			}
			err = errors.Join(err, p.Term())
			if !p.Wait(2 * time.Second) {
				err = errors.Join(err, fmt.Errorf("%s did not end at the second signal", name), p.Kill())
			}
			if err := errors.Join(err, t.postgres.Thaw()); err != nil {
				return err
			}
			exit, ok := errors.AsType[*exec.ExitError](p.Err())
			if status, _ := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
				return fmt.Errorf("%s ended with %v, not by the signal", name, p.Err())
			}
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d programs, the database frozen", len(programs)), err
}
