package outbox

import (
	"context"
	"time"
)

// floor saves reading the places of deleted rows: none at or below at will ever hold a row that
// is not sent. It decides nothing else.
type floor struct {
	at      int64
	mark    mark
	seen    int64 // highest row that was read
	deleted bool  // some row, since the last mark
	next    time.Time
}

// mark is the highest row that could be seen, then or before, and a transaction that began to
// write behind that. Who wrote a row below it had a transaction before the row's id, so an older
// one.
type mark struct {
	top int64
	xid string // "" is no mark
}

// markSQL allocates its xid behind the snapshot that sees the top. A snapshot's xmax would not
// do: transactions that run may lie above it.
func markSQL(table, _ string) string {
	return `SELECT coalesce((SELECT max(id) FROM ` + table + `), 0), pg_current_xact_id()::text`
}

// passedSQL finds out, with one snapshot, whether all transactions of the mark's time have
// ended, and what they left.
func passedSQL(table, _ string) string {
	return `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8, (SELECT min(id) FROM ` + table + `)`
}

func waitingSQL(table, _ string) string {
	return `SELECT count(*) FROM ` + table + ` WHERE id > $1 AND NOT (` + notHeld + `)`
}

// survey moves the floor, and counts the rows that wait.
func (t *term) survey(ctx context.Context) error {
	begun := time.Now()
	if begun.Before(t.floor.next) {
		return nil
	}
	if err := t.moveFloor(ctx); err != nil {
		return err
	}
	var waiting int64
	if len(t.held) > 0 {
		topics, ofTopics, keys := t.excluded()
		if err := t.session.conn.QueryRow(ctx, t.session.waiting, t.floor.at, topics, ofTopics, keys).Scan(&waiting); err != nil {
			return err
		}
	}
	t.status.waits(waiting)
	t.floor.next = time.Now().Add(max(t.pace.floor, share*time.Since(begun)))
	return nil
}

// share bounds what looking at rows that stay costs: a part of the time.
const share = 10

func (t *term) moveFloor(ctx context.Context) error {
	f := &t.floor
	if f.mark.xid == "" {
		if !f.deleted {
			return nil
		}
		f.deleted = false
		err := t.session.conn.QueryRow(ctx, t.session.mark).Scan(&f.mark.top, &f.mark.xid)
		f.mark.top = max(f.mark.top, f.seen) // most rows that were seen are deleted
		return err
	}
	var passed bool
	var least *int64
	if err := t.session.conn.QueryRow(ctx, t.session.passed, f.mark.xid).Scan(&passed, &least); err != nil || !passed {
		return err
	}
	at := f.mark.top
	if least != nil {
		at = min(at, *least-1)
	}
	f.at, f.mark = max(f.at, at), mark{}
	return nil
}
