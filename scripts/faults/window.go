package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// windowFaults have copies, sent within the window of their keys, wait for longer than that.
var windowFaults = []fault{
	{name: "copies wait beyond their window, while partitions are paused", users: visits, do: beyondWindow(whilePaused)},
	{name: "copies wait beyond their window, while no process runs", users: visits, do: beyondWindow(whileStopped)},
}

const visitsWindow = 20 * time.Second

// beyondWindow sends copies of events that were just applied, and reads them when wait is over.
func beyondWindow(wait func(ctx context.Context, t *theatre, send func() error) error) func(context.Context, *theatre) (string, error) {
	return func(ctx context.Context, t *theatre) (string, error) {
		if err := t.startWorking(ctx, 2); err != nil {
			return "", err
		}
		began := time.Now()
		if err := t.applied(ctx, 400); err != nil {
			return "", err
		}
		copies := 0
		err := wait(ctx, t, func() error {
			var list []*wire.Message
			for _, e := range t.users.events {
				partition := e.message.Partition
				if e.kind == "user.left" { // whose copies may be anywhere
					partition = (partition + 1) % partitions
				}
				list = append(list, again(e.message, partition))
			}
			copies = len(list)
			// Several batches before them move the window, if it moves.
			if err := errors.Join(t.produce(ctx, 8000), t.send(ctx, list...)); err != nil {
				return err
			}
			if took := time.Since(began); took > visitsWindow {
				return fmt.Errorf("the copies were sent after %v, outside of the window", took)
			}
			return nil
		})
		return fmt.Sprintf("for three windows of %v, %d copies", visitsWindow, copies), err
	}
}

// whilePaused pauses two of the partitions. The others go on, and processes come and go: each one
// begins with the upkeep, which drops keys.
func whilePaused(ctx context.Context, t *theatre, send func() error) error {
	both := func(verb string) (commands []string) {
		for p := range 2 {
			commands = append(commands, fmt.Sprintf("idemgen stream %s --consumer visits --topic %s --partition %d --reason test", verb, t.topic, p))
		}
		return commands
	}
	if err := errors.Join(t.comeBack(ctx, both("pause")), send()); err != nil {
		return err
	}
	return t.load(ctx, usersRate, func() error {
		for range 5 {
			if err := stage.Pause(ctx, 3*visitsWindow/5); err != nil {
				return err
			}
			p := t.running[0]
			t.forget(p)
			if err := p.Stop(); err != nil {
				return err
			}
			if _, err := t.start(ctx); err != nil {
				return err
			}
		}
		if before := t.monitor.partitions(); before[0] > 500 || before[2] <= before[0] {
			return fmt.Errorf("not paused, or none went on: %v", before)
		}
		return t.comeBack(ctx, both("resume"))
	})
}

func whileStopped(ctx context.Context, t *theatre, send func() error) error {
	if err := errors.Join(t.stopAll(), send(), stage.Pause(ctx, 3*visitsWindow)); err != nil {
		return err
	}
	return t.startWorking(ctx, 2)
}
