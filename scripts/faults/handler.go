package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

// handlerFaults are handlers that misbehave.
var handlerFaults = []fault{
	{name: "handler panics", paid: unlucky, do: misbehaves(script.Panic, "a handler panicked")},
	{name: "handler ends its goroutine", paid: unlucky, do: misbehaves(script.Goexit, "")},
	{name: "handler ends the process", do: handlerExits},
	{name: "handler ignores its context", do: handlerIgnores},
	{name: "deadlocks between partitions", do: deadlocks},
	{name: "serialization failures", do: misbehaves(script.Serialize, "40001")},
}

// unlucky is a handler that fails for good at unlucky payments: a dead letter each.
func unlucky(t *oracle.Tables, e oracle.Values) error {
	if script.Unlucky(e.Text("payment_id")) {
		return errors.New("unlucky")
	}
	return audit.AddPayment(t, e)
}

// misbehaves runs two processes with a handler that fails now and then, which they log.
func misbehaves(how, said string) func(context.Context, *theatre) (string, error) {
	return func(ctx context.Context, t *theatre) (string, error) {
		if err := t.startWorking(ctx, 2, script.Handler+"="+how); err != nil {
			return "", err
		}
		if err := t.repeat(ctx, 4, 500*time.Millisecond, func(int) error { return nil }); err != nil {
			return "", err
		}
		if err := t.caughtUp(ctx); err != nil {
			return "", err
		}
		if said == "" {
			return "one payment in 16", nil
		}
		n := t.logged(said)
		if n == 0 {
			return "", fmt.Errorf("no process said %q", said)
		}
		return fmt.Sprintf("%d times", n), nil
	}
}

func handlerExits(ctx context.Context, t *theatre) (string, error) {
	const exits = 3
	err := t.load(ctx, rate/4, func() error {
		for range exits {
			p, err := t.start(ctx, script.Handler+"="+script.Exit)
			if err != nil {
				return err
			}
			t.forget(p)
			if !p.Wait(30 * time.Second) {
				return fmt.Errorf("no handler was called three times; last lines:\n%s", p.Log)
			}
			if err := exitedWith(p, script.Code); err != nil {
				return err
			}
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d times, in a transaction", exits), err
}

// handlerIgnores has a handler that never comes back: reported, its partition halted, the
// others go on; released, it goes on in the same process.
func handlerIgnores(ctx context.Context, t *theatre) (string, error) {
	if _, err := t.start(ctx, script.Handler+"="+script.Ignore); err != nil {
		return "", err
	}
	err := t.load(ctx, rate/4, func() error {
		if err := t.says(ctx, "a handler is still running after its context ended", 40*time.Second); err != nil {
			return err
		}
		commands, err := t.halted(ctx, 1, halt.Handler)
		if err != nil {
			return err
		}
		if err := t.moves(ctx, 50, patience); err != nil {
			return fmt.Errorf("the other partitions: %w", err)
		}
		return t.comeBack(ctx, commands)
	})
	return "once; reported, its partition halted, the others went on; it did by idemgen stream release", err
}

// deadlocks has handlers of several partitions lock two rows in opposite orders.
func deadlocks(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2, script.Handler+"="+script.Contend); err != nil {
		return "", err
	}
	if err := t.repeat(ctx, 4, time.Second, func(int) error { return nil }); err != nil {
		return "", err
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	conn := connect(ctx, t.direct)
	if conn == nil {
		return "", errors.New("no connection")
	}
	defer conn.Close(ctx)
	var found, payments, locked int
	err := conn.QueryRow(ctx, `SELECT (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()),
(SELECT count(*) FROM audit_journal WHERE effect LIKE 'paid%'), (SELECT sum(n) FROM audit_contended)`).Scan(&found, &payments, &locked)
	switch {
	case err != nil:
		return "", err
	case found == 0:
		return "", errors.New("there was no deadlock")
	case locked != 2*payments:
		return "", fmt.Errorf("%d payments took effect, and %d updates of the rows that they lock", payments, locked)
	}
	return fmt.Sprintf("%d deadlocks", found), nil
}
