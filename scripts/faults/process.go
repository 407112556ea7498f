package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// processFaults end a process, or stop it, at the worst moment.
var processFaults = []fault{
	{name: "kill -9, one at a time", timed: true, do: killsApart},
	{name: "kill -9, one at a time, new consumer protocol", protocol: script.Consumer, timed: true, do: killsApart},
	{name: "kill -9 loop", do: killLoop},
	{name: "kill -9 loop, new consumer protocol", protocol: script.Consumer, do: killLoop},
	{name: "crash at each step of a batch", do: crashPoints},
	{name: "zombie: a stopped owner comes back", do: zombie},
	{name: "stopped in the middle of sending", proxied: true, do: stoppedSending},
	{name: "stopped in the middle of reading", do: stoppedReading},
	{name: "memory limit, records of 0.9 MiB", do: memoryLimit},
}

// killOne kills a process in the middle of its work and starts another in its place.
func (t *theatre) killOne(ctx context.Context, random *rand.Rand) error {
	p := t.running[random.IntN(len(t.running))]
	// Not all are killed at work: those that still join are killed there.
	if err := stage.Until(ctx, 2*time.Second, func() (bool, error) { return p.Owns(), p.Dead() }); err != nil && !errors.Is(err, stage.ErrTimeout) {
		return err
	}
	if err := stage.Pause(ctx, time.Duration(1+random.IntN(200))*time.Millisecond); err != nil {
		return err
	}
	if err := t.kill(p); err != nil {
		return err
	}
	_, err := t.start(ctx)
	return err
}

// killsApart kills a process when all partitions go on, and starts another one a second later.
// Partitions of the dead process stand until the group misses it; none stands for longer.
func killsApart(ctx context.Context, t *theatre) (string, error) {
	const kills, most = 6, session + 2*time.Second
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	longest := time.Duration(0)
	err := t.repeat(ctx, kills, 0, func(i int) error {
		if err := t.movesAll(ctx, patience); err != nil {
			return err
		}
		t.monitor.since()
		if err := t.kill(t.running[0]); err != nil {
			return err
		}
		if err := stage.Pause(ctx, time.Second); err != nil {
			return err
		}
		if _, err := t.start(ctx); err != nil {
			return err
		}
		if err := t.movesAll(ctx, patience); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 2*time.Second); err != nil { // the new member gets its share
			return err
		}
		longest = max(longest, t.monitor.since())
		return nil
	})
	if err == nil && longest > most {
		err = fmt.Errorf("a partition stood for %.1f s, longer than the %v of a session and 2 s", longest.Seconds(), session)
	}
	return fmt.Sprintf("%d kills of one of 2 processes, and %.1f s without progress at most", kills, longest.Seconds()), err
}

func killLoop(ctx context.Context, t *theatre) (string, error) {
	const kills = 12
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	random := rand.New(rand.NewPCG(1, 2))
	err := t.repeat(ctx, kills, 0, func(int) error { return t.killOne(ctx, random) })
	return fmt.Sprintf("%d kills of one of 2 processes", kills), err
}

// crashPoints has a process end itself at a step, then starts the next one for the next.
func crashPoints(ctx context.Context, t *theatre) (string, error) {
	crashes := 0
	err := t.load(ctx, rate, func() error {
		for _, step := range idemtest.Steps {
			p, err := t.start(ctx, script.ExitAt+"="+step+"/3")
			if err != nil {
				return err
			}
			t.forget(p)
			if !p.Wait(30 * time.Second) {
				return fmt.Errorf("no batch came to the step %q; last lines:\n%s", step, p.Log)
			}
			if err := exitedWith(p, script.Code); err != nil {
				return err
			}
			crashes++
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d crashes, one at each step from before sending to after the commit", crashes), err
}

func exitedWith(p *stage.Process, code int) error {
	exit, ok := errors.AsType[*exec.ExitError](p.Err())
	if !ok || exit.ExitCode() != code {
		return fmt.Errorf("the process ended with %v, not with code %d; last lines:\n%s", p.Err(), code, p.Log)
	}
	return nil
}

// zombie stops the owner until another one has taken over, and lets it go on: two live
// writers; one of them is refused.
func zombie(ctx context.Context, t *theatre) (string, error) {
	const rounds = 3
	if err := t.startWorking(ctx, 1); err != nil {
		return "", err
	}
	err := t.load(ctx, 2*rate, func() error {
		for range rounds {
			old := t.running[0]
			if err := old.Freeze(); err != nil {
				return err
			}
			next, err := t.start(ctx)
			if err == nil {
				err = next.Works(ctx)
			}
			if err == nil {
				err = t.moves(ctx, 200, patience)
			}
			if err := errors.Join(err, old.Thaw()); err != nil {
				return err
			}
			if err := t.moves(ctx, 200, patience); err != nil {
				return fmt.Errorf("with two live processes: %w", err)
			}
			t.forget(old)
			if err := old.Stop(); err != nil {
				return err
			}
		}
		return nil
	})
	return fmt.Sprintf("%d times; %d writes were refused", rounds, t.logged("fenced")), err
}

// stoppedSending stops a process when the server has the first half of a transaction, which
// holds its locks and meets no time-out of the server. The next owner must get past it; then
// the second half arrives.
func stoppedSending(ctx context.Context, t *theatre) (string, error) {
	const rounds = 2
	behind := t.dsn
	err := t.load(ctx, rate, func() error {
		for range rounds {
			t.dsn = behind // the victim alone goes through the proxy
			victim, err := t.start(ctx)
			if err != nil {
				return err
			}
			if err := victim.Works(ctx); err != nil {
				return err
			}
			// The append has been executed; the claims of the keys are on their way.
			held := t.wire.Once(cutproxy.Rule{Direction: cutproxy.Up, Match: cutproxy.Executes("_claim"), Do: cutproxy.Hold})
			select {
			case <-held:
			case <-time.After(20 * time.Second):
				return errors.New("no batch claimed keys")
			}
			if err := victim.Freeze(); err != nil {
				return err
			}
			t.dsn = t.direct
			if err := t.replace(ctx, victim, t.wire.Release); err != nil {
				return err
			}
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d times, after the append", rounds), err
}

// stoppedReading stops a process while the server cannot get rid of a long result, within
// a transaction.
func stoppedReading(ctx context.Context, t *theatre) (string, error) {
	const rounds = 2
	err := t.load(ctx, rate/4, func() error {
		for range rounds {
			victim, err := t.start(ctx, script.Handler+"="+script.Read)
			if err != nil {
				return err
			}
			if err := victim.Works(ctx); err != nil {
				return err
			}
			if err := t.freezeWhen(ctx, victim, "wait_event = 'ClientWrite' AND backend_xid IS NOT NULL"); err != nil {
				return err
			}
			if err := t.replace(ctx, victim, func() {}); err != nil {
				return err
			}
		}
		_, err := t.start(ctx)
		return err
	})
	return fmt.Sprintf("%d times, in a transaction", rounds), err
}

// freezeWhen stops a process when a session of the service is in a state and stays there.
func (s *servers) freezeWhen(ctx context.Context, p *stage.Process, state string) error {
	conn, err := pgx.Connect(ctx, s.direct)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	there := func() (found bool, err error) {
		err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'idemgen' AND "+state+")").Scan(&found)
		return found, err
	}
	return stage.Until(ctx, 30*time.Second, func() (bool, error) {
		if found, err := there(); err != nil || !found {
			return false, err
		}
		if err := p.Freeze(); err != nil {
			return false, err
		}
		if found, err := there(); err != nil || found {
			return found, err
		}
		return false, p.Thaw()
	})
}

// replace starts a process in place of a stopped one, which comes back when the other works.
func (t *theatre) replace(ctx context.Context, victim *stage.Process, back func()) error {
	if _, err := t.start(ctx); err != nil {
		return err
	}
	if err := t.movesAll(ctx, patience); err != nil {
		return errors.Join(fmt.Errorf("behind a stopped owner: %w", err), victim.Thaw())
	}
	err := victim.Thaw()
	back()
	if err == nil {
		err = t.moves(ctx, 200, patience)
	}
	if err != nil {
		return fmt.Errorf("when the stopped owner was back: %w", err)
	}
	return t.stopAll()
}

// memoryLimit has far more bytes wait than the process may use.
func memoryLimit(ctx context.Context, t *theatre) (string, error) {
	const records, most = 250, 200 << 20
	note := strings.Repeat("n", 900<<10)
	for range records / 10 {
		err := t.compose(ctx, func(m *shop.Maker) (list []*wire.Message) {
			for range 10 {
				list = append(list, m.Placed(note))
			}
			return list
		})
		if err != nil {
			return "", err
		}
	}
	// The limit of the address space is above what Go and the client reserve and do not use.
	p, err := t.launch(ctx, []string{"GOMEMLIMIT=120MiB"}, "sh", "-c", `ulimit -v 3000000; exec "$0"`, t.kit.program("service"))
	if err != nil {
		return "", err
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	peak, err := peakMemory(p.PID())
	if err == nil && peak > most {
		err = fmt.Errorf("the process used %d MiB at its peak, more than %d", peak>>20, most>>20)
	}
	return fmt.Sprintf("GOMEMLIMIT=120MiB, %d MiB of records, peak %d MiB", records*900/1024, peak>>20), err
}

// peakMemory is the most that a process had in memory, in bytes.
func peakMemory(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, fmt.Errorf("VmHWM of process %d: %w", pid, err)
	}
	return kib << 10, nil
}
