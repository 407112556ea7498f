package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// clockFaults move clocks, which must decide nothing.
var clockFaults = []fault{
	{name: "the database's clock jumps", clock: true, cannot: needsCompiler, do: databaseClock},
	{name: "the database's clock jumps under leases", clock: true, cannot: needsCompiler, users: pings, do: leaseClock},
	{name: "records' timestamps jump", do: recordClock},
	{name: "the process's clock jumps", do: processClock},
}

const day = 24 * time.Hour

// needsCompiler: the server's clock is moved by a small library.
func needsCompiler() string {
	if runtime.GOOS != "linux" {
		return "needs Linux, to put a clock under the server"
	}
	if _, err := compiler(context.Background()); err != nil {
		return "needs a C compiler, to put a clock under the server"
	}
	return ""
}

func compiler(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return "", err
	}
	return exec.LookPath(strings.TrimSpace(string(out)))
}

//go:embed clockshim/clock.c
var clockSource []byte

// makeClock builds the library and returns the environment that loads it.
func (s *servers) makeClock(ctx context.Context) ([]string, error) {
	dir, err := os.MkdirTemp("/tmp", "idemgen-clock-")
	if err != nil {
		return nil, err
	}
	s.onClose = append(s.onClose, func() error { return os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the server has an account of its own
		return nil, err
	}
	source, library := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	s.clock = filepath.Join(dir, "ahead")
	if err := errors.Join(os.WriteFile(source, clockSource, 0o644), s.setClock(0)); err != nil {
		return nil, err
	}
	cc, err := compiler(ctx)
	if err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, cc, "-shared", "-fPIC", "-O2", "-o", library, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cc, err, out)
	}
	return []string{"LD_PRELOAD=" + library, "FAULTS_CLOCK=" + s.clock}, nil
}

// setClock says how far the server's clock is ahead, from now on.
func (s *servers) setClock(ahead time.Duration) error {
	f, err := os.OpenFile(s.clock, os.O_CREATE|os.O_WRONLY, 0o644) // written in place: it is mapped
	if err != nil {
		return err
	}
	_, err = f.Write(binary.NativeEndian.AppendUint64(nil, uint64(int64(ahead.Seconds()))))
	return errors.Join(err, f.Close())
}

// databaseClock moves the clock by a day and by more than every window, forwards and back.
// Copies that come then must still be known.
func databaseClock(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	jumps := []time.Duration{day, 0, 40 * day, 0, -day, 0}
	err := t.load(ctx, rate, func() error {
		for _, ahead := range jumps {
			if err := t.setClock(ahead); err != nil {
				return err
			}
			if err := t.clockIs(ctx, ahead); err != nil {
				return err
			}
			if err := t.sendAgain(ctx, 200); err != nil {
				return err
			}
			if err := t.moves(ctx, 400, patience); err != nil {
				return err
			}
		}
		return nil
	})
	return fmt.Sprintf("%d times, by up to 40 days, with old records again each time", len(jumps)), err
}

// leaseClock moves the clock by a day, forwards and back, during calls that outlast a heartbeat,
// and kills a process while the clocks are apart. Another one must get its leases in time: within
// their term after it first asked.
func leaseClock(ctx context.Context, t *theatre) (string, error) {
	const long, term, slack = 12 * time.Second, 30 * time.Second, 30 * time.Second
	t.env = append(t.env, script.LongCall+"="+long.String())
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	jumps := []time.Duration{day, 0, -day, 0}
	err := t.load(ctx, usersRate/3, func() error {
		for _, ahead := range jumps {
			if err := t.movesAll(ctx, patience); err != nil {
				return err
			}
			if err := errors.Join(t.setClock(ahead), t.clockIs(ctx, ahead)); err != nil {
				return err
			}
			if err := stage.Pause(ctx, long); err != nil {
				return err
			}
			if ahead == 0 {
				continue
			}
			if err := t.kill(t.running[0]); err != nil {
				return err
			}
			if _, err := t.start(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = t.caughtUp(ctx)
	}
	if err != nil {
		return "", err
	}
	if stood := t.monitor.since(); stood > term+long+slack {
		return "", fmt.Errorf("a partition stood for %v, longer than a term, the longest call and %v", stood, slack)
	}
	did, err := t.users.callsBy(ctx, t)
	return fmt.Sprintf("%d times, by a day, with a kill at every other; %s", len(jumps), did), err
}

// clockIs demands that the database tells the time that it was given.
func (s *servers) clockIs(ctx context.Context, ahead time.Duration) error {
	conn := connect(ctx, s.direct)
	if conn == nil {
		return errors.New("no connection")
	}
	defer conn.Close(ctx)
	var now time.Time
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return err
	}
	if off := time.Until(now) - ahead; off.Abs() > time.Hour {
		return fmt.Errorf("the database's clock is ahead by %v, not by %v", time.Until(now), ahead)
	}
	return nil
}

// sendAgain sends copies of the oldest records that have a key.
func (l *topicLog) sendAgain(ctx context.Context, n int) error {
	return l.compose(ctx, func(*shop.Maker) (list []*wire.Message) {
		for _, m := range l.messages() {
			if m.Value != nil && len(list) < n {
				list = append(list, shop.Again(m))
			}
		}
		return list
	})
}

// processClock moves the clocks of two services by a day, one forwards and one back, and
// back again. Copies that come then must still be known.
func processClock(ctx context.Context, t *theatre) (string, error) {
	for _, by := range []string{"24h", "-24h"} {
		if _, err := t.start(ctx, script.Clock+"="+by); err != nil {
			return "", err
		}
	}
	if err := t.startWorking(ctx, 0); err != nil {
		return "", err
	}
	const jumps = 6
	err := t.load(ctx, rate, func() error {
		for n := range jumps {
			for _, p := range t.running {
				if err := p.Signal(syscall.SIGUSR1); err != nil {
					return err
				}
			}
			told := func() (bool, error) { return t.logged("the process's clock jumped") == (n+1)*len(t.running), t.dead() }
			err := stage.Until(ctx, patience, told)
			if err == nil {
				err = t.sendAgain(ctx, 200)
			}
			if err == nil {
				err = t.moves(ctx, 400, patience)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return fmt.Sprintf("%d times, by a day, two processes in opposite directions, with old records again each time", jumps), err
}

// recordClock gives records timestamps that jump.
func recordClock(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	times := []time.Time{time.Now().Add(day), time.Now().Add(-day), time.UnixMilli(0), time.Now().Add(400 * day), time.Now()}
	for _, at := range times {
		err := t.compose(ctx, func(m *shop.Maker) []*wire.Message {
			list := events(200)(m)
			for _, e := range list {
				e.Time = at
			}
			return list
		})
		if err == nil {
			err = t.sendAgain(ctx, 100)
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d jumps, from 1970 to a year ahead, with old records again each time", len(times)), nil
}
