package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// failoverFaults concern a primary and its standby.
var failoverFaults = []fault{
	{name: "failover, synchronous standby", do: failover(true)},
	{name: "failover, asynchronous standby that lost the tail", do: failover(false)},
	{name: "split brain: the old primary comes back", do: splitBrain},
	{name: "synchronous standby gone", do: standbyGone},
}

// failover ends the primary and promotes the standby, which, if it is not synchronous, has
// not got what was committed last.
func failover(synchronous bool) func(context.Context, *theatre) (string, error) {
	return func(ctx context.Context, t *theatre) (string, error) {
		s, err := t.withStandby(ctx, synchronous)
		if err != nil {
			return "", err
		}
		if err := t.startWorking(ctx, 2); err != nil {
			return "", err
		}
		did := "once, nothing was lost with it"
		err = t.load(ctx, rate, func() error {
			if err := t.moves(ctx, 400, patience); err != nil {
				return err
			}
			if synchronous {
				return errors.Join(t.postgres.Crash(), t.promote(ctx, s))
			}
			if err := s.Freeze(); err != nil {
				return err
			}
			if err := t.moves(ctx, 400, patience); err != nil {
				return err
			}
			before := t.monitor.sum()
			if err := errors.Join(t.postgres.Crash(), s.Thaw(), t.promote(ctx, s)); err != nil {
				return err
			}
			lost, err := t.behind(ctx, before)
			did = fmt.Sprintf("once, with the effects of %d records", lost)
			return err
		})
		return did, err
	}
}

// failOver is a failover behind one address, where a proxy leads to the primary. A new standby
// follows then, for the next time.
func (s *servers) failOver(ctx context.Context) error {
	if err := s.follows(ctx); err != nil {
		return err
	}
	old, next := s.postgres, s.standby
	u, err := url.Parse(next.URL())
	if err != nil {
		return err
	}
	if err := old.Crash(); err != nil {
		return err
	}
	s.wire.Lead(u.Host) // for a moment to a server that only reads
	if err := s.promote(ctx, next); err != nil {
		return err
	}
	s.postgres, s.standby = next, nil
	if err := old.Close(); err != nil {
		return err
	}
	return s.addStandby(ctx, true)
}

// behind is by how much the database that counts has passed less than n records; it must
// be some, or nothing was lost.
func (s *servers) behind(ctx context.Context, n int64) (int64, error) {
	conn, err := pgx.Connect(ctx, s.database())
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	passed, err := audit.Passed(ctx, conn)
	if err == nil && total(passed) >= n {
		err = errors.New("the standby had everything")
	}
	return n - total(passed), err
}

// splitBrain promotes the standby while the primary is down, and brings that one back. New
// connections go to the old primary first, until it is gone for good. Each of the two must
// be right in itself, and the one that stays must be complete.
func splitBrain(ctx context.Context, t *theatre) (string, error) {
	s, err := t.withStandby(ctx, false)
	if err != nil {
		return "", err
	}
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	old, wrote := t.database(), int64(0)
	err = t.load(ctx, rate, func() error {
		if err := t.moves(ctx, 400, patience); err != nil {
			return err
		}
		if err := errors.Join(t.postgres.Crash(), t.promote(ctx, s)); err != nil {
			return err
		}
		if err := t.moves(ctx, 400, patience); err != nil {
			return err
		}
		if err := t.postgres.Restart(); err != nil {
			return err
		}
		// Sessions end here and there, so that some begin again, on the old primary.
		for range 20 {
			if err := execAt(ctx, s.URL(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen'"); err != nil {
				return err
			}
			if err := stage.Pause(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
		if wrote, err = t.abandonServer(ctx, old); err != nil {
			return err
		}
		// Nobody knows of the loss until there is something to append.
		return t.movesAll(ctx, patience)
	})
	return fmt.Sprintf("both took writes, the old one up to %d of %d records", wrote, len(t.messages())), err
}

// abandonServer audits a database that does not count any more, and ends its server for good. It
// tells how far it had come.
func (t *theatre) abandonServer(ctx context.Context, at string) (int64, error) {
	found, err := t.auditAt(ctx, at)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("the old primary: %v", found[:min(len(found), shownFindings)])
	}
	conn := connect(ctx, at)
	if conn == nil {
		return 0, errors.Join(err, errors.New("the old primary is not there"))
	}
	passed, err2 := audit.Passed(ctx, conn)
	return total(passed), errors.Join(err, err2, conn.Close(ctx), t.postgres.Crash())
}

// standbyGone freezes the standby that commits wait for. Nothing may count as committed
// while it is away, also if the waiting sessions are ended or cancelled.
func standbyGone(ctx context.Context, t *theatre) (string, error) {
	s, err := t.withStandby(ctx, true)
	if err != nil {
		return "", err
	}
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	waiting := 0
	err = t.load(ctx, rate/2, func() error {
		if err := t.moves(ctx, 200, patience); err != nil {
			return err
		}
		if err := s.Freeze(); err != nil {
			return err
		}
		for _, function := range []string{"pg_terminate_backend", "pg_cancel_backend", "pg_terminate_backend"} {
			if err := stage.Pause(ctx, 2*time.Second); err != nil {
				return errors.Join(err, s.Thaw())
			}
			n, err := t.endWaiting(ctx, function)
			if err != nil {
				return errors.Join(err, s.Thaw())
			}
			waiting += n
		}
		err := t.hintsBelowLedger(ctx)
		return errors.Join(err, s.Thaw())
	})
	if err == nil && waiting == 0 {
		err = errors.New("no commit waited")
	}
	return fmt.Sprintf("for 6 s; %d commits waited, and were ended or cancelled", waiting), err
}

// endWaiting ends or cancels sessions whose commit waits for the standby.
func (s *servers) endWaiting(ctx context.Context, function string) (int, error) {
	conn, err := pgx.Connect(ctx, s.direct)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	tag, err := conn.Exec(ctx, "SELECT "+function+"(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND wait_event = 'SyncRep'")
	return int(tag.RowsAffected()), err
}

// hintsBelowLedger demands that no offset was committed to Kafka that the ledger does not cover.
func (t *theatre) hintsBelowLedger(ctx context.Context) error {
	hints := t.broker.Committed(t.group(), shop.Topic)
	conn, err := pgx.Connect(ctx, t.database())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	passed, err := audit.Passed(ctx, conn)
	for p, hint := range hints {
		if err == nil && hint > passed[int32(p)] {
			err = fmt.Errorf("offset %d of partition %d is committed to Kafka, the ledger is at %d", hint, p, passed[int32(p)])
		}
	}
	return err
}
