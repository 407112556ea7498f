package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A log that ended below the position was cut, although it has grown past it since. It is
// forgotten only if the leader epoch of the record before the position proves that all is there.
func TestLogThatEndedBelowThePositionIsNotForgotten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		epoch int32
		ends  func(context.Context, idem.Position) (int64, error) // nil: the Source does not know
		halts bool
	}{
		"no epochs":               {-1, nil, true},
		"the epoch is not known":  {-1, func(context.Context, idem.Position) (int64, error) { return 0, errors.New("asked") }, true},
		"the log has what it had": {3, func(_ context.Context, at idem.Position) (int64, error) { return at.Offset, nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
			rig.Assign(t, sink, 0)
			batch := rig.Records(0, "put 1 1", "put 2 2")
			for i := range batch {
				batch[i].LeaderEpoch = tc.epoch
			}
			rig.Deliver(t, sink, batch)
			sink.Revoked(rig.First)
			a := rig.NewSource(nil).Assignment
			a.High, a.EpochEnd = 1, tc.ends
			_, err := sink.Assigned(t.Context(), a)
			if err == nil || errors.As(err, new(*idem.HaltedError)) {
				t.Fatalf("at first: got %v, want an error that may pass", err)
			}
			a.High = 9
			at, err := sink.Assigned(t.Context(), a)
			if !tc.halts {
				if err != nil || at.Offset != 2 {
					t.Errorf("got %v, %v", at, err)
				}
				return
			}
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, halt.LogTruncated)
			if way := halted.Ways[0].String(); !strings.Contains(way, "--from 2 --to 1 --apply-again") {
				t.Error(way)
			}
		})
	}
}

// Where the leader epoch of the position ends says whether the log was truncated, and where.
// Without an end, the log is another one, unless a deposed leader answered: the partition waits
// for a while.
func TestEndOfTheEpochDecides(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		end          int64
		reason, ways string // "" if the partition is taken over
	}{
		{2, "", ""},
		{5, "", ""},
		{1, "truncated at offset 1", "--from 2 --to 1 --apply-again"},
		{0, "truncated at offset 0", "--from 2 --to 0 --apply-again"},
		{-1, "no leader epoch 3", "--from 2 --to 2, --from 2 --to 0 --apply-again"},
	} {
		t.Run(fmt.Sprint(tc.end), func(t *testing.T) {
			t.Parallel()
			sink := rig.Drive(t, rig.Service{}.Consumer(t, rig.Database(t)))
			rig.Assign(t, sink, 0)
			batch := rig.Records(0, "put 1 1", "put 2 2")
			for i := range batch {
				batch[i].LeaderEpoch = 3
			}
			rig.Deliver(t, sink, batch)
			sink.Revoked(rig.First)
			a := rig.NewSource(nil).Assignment
			a.High, a.EpochEnd = 9, func(context.Context, idem.Position) (int64, error) { return tc.end, nil }
			at, err := sink.Assigned(t.Context(), a)
			if tc.end < 0 {
				err = lasts(t, sink, a, err)
			}
			if tc.reason == "" {
				if err != nil || at.Offset != 2 {
					t.Errorf("got %v, %v", at, err)
				}
				return
			}
			halted := rig.WantError[*idem.HaltedError](t, err)
			if halted.Code != halt.LogTruncated || !strings.Contains(halted.Error(), tc.reason) {
				t.Errorf("got %v", halted)
			}
			var ways []string
			for _, w := range halted.Ways {
				_, from, _ := strings.Cut(w.String(), " --partition 0 ")
				ways = append(ways, strings.TrimSuffix(from, " --reason log-truncated"))
			}
			rig.Want(t, "ways out", strings.Join(ways, ", "), tc.ways)
		})
	}
}

// A position that moves over markers has the leader epoch of the end of the log: a marker may have
// a later one than the record before it. While the broker does not say it, the position waits.
func TestPositionBehindMarkersHasTheEpochOfTheEnd(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	a := rig.NewSource(nil).Assignment
	var last idem.Position
	var fails error
	a.Last = func(context.Context) (idem.Position, error) { return last, fails }
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	batch := rig.Records(0, "put 1 1")
	batch[0].LeaderEpoch = 0
	rig.Deliver(t, sink, batch)
	const sql = `SELECT string_agg(next || ' ' || epoch, ', ' ORDER BY seq) FROM idem_ledger WHERE kind = 'b'`
	for _, c := range []struct {
		last  idem.Position
		fails error
		want  string
	}{
		{idem.Position{}, errors.New("away"), "1 0"},
		{idem.Position{Offset: 2, Epoch: 7}, nil, "1 0"},
		{idem.Position{Offset: 4, Epoch: 7}, nil, "1 0"}, // the record at 3 may have an earlier epoch
		{idem.Position{Offset: 3, Epoch: 7}, nil, "1 0, 3 7"},
	} {
		last, fails = c.last, c.fails
		if err := idleAt(t, sink, 3); err != nil {
			t.Fatal(err)
		}
		rig.Want(t, "the chain", rig.Query(t, db, sql), c.want)
	}
}

// lasts takes a partition over until it halts, and returns the error. The first one was temporary.
func lasts(t *testing.T, sink idem.Sink, a idem.Assignment, first error) error {
	t.Helper()
	if first == nil || errors.As(first, new(*idem.HaltedError)) {
		t.Fatalf("at first: got %v, want an error that may pass", first)
	}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err := sink.Assigned(t.Context(), a)
		if err == nil || time.Since(begin) > time.Minute {
			t.Fatalf("after %v: got %v", time.Since(begin), err)
		}
		if errors.As(err, new(*idem.HaltedError)) {
			if time.Since(begin) < 9*time.Second {
				t.Errorf("halted after %v", time.Since(begin))
			}
			return err
		}
	}
}
