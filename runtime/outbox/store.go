package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// readSQL reads the first events that were not read yet, of some aggregates or of all others, up
// to a number of bytes. There is no cursor: an event that commits late is read when it is there.
// A user may add columns to the table, so no name of the statement is looked up among all of them.
// Of topics in which too many dead letters are stopped, only those of some aggregates are read.
const readSQL = `
SELECT event.* FROM (
    SELECT first.seq, pg_catalog.sum(first.bytes) OVER (ORDER BY first.seq) - first.bytes AS before
    FROM (
        SELECT seq, coalesce(pg_catalog.octet_length(payload), 0) AS bytes FROM idem_outbox
        WHERE seq <> ALL($1) AND ((aggregatetype, aggregateid) IN (SELECT * FROM ROWS FROM (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[])))) = $6::boolean
            AND ($6 OR aggregatetype <> ALL($7))
        ORDER BY seq LIMIT $4
    ) first
) fitting JOIN idem_outbox event ON event.seq = fitting.seq
WHERE fitting.before < $5
ORDER BY event.seq`

// reading is a read of events.
type reading struct {
	asked      time.Time
	known      []int64 // not read again
	kinds, ids []string
	those      bool     // only these aggregates; else all but these
	crowd      []string // see there
	room       int      // for events
	bytes      int      // the same for their payloads

	again      map[aggregate]bool // aggregates that are held back, and read again
	othersNext bool               // the next read is of others
}

// plan says what is read now.
func (l *lead) plan(now time.Time) *reading {
	p := &reading{asked: now, known: make([]int64, 0, mostRows), again: l.due(now), crowd: l.crowd()}
	for _, line := range l.lines {
		for _, e := range line {
			p.known = append(p.known, e.seq)
		}
	}
	p.known = append(p.known, l.acked.seqs...)
	l.others = len(p.crowd) > 0 && len(p.again) > 0 && !l.others
	if l.others {
		clear(p.again)
	}
	p.othersNext = len(p.crowd) > 0 && len(p.again) > 0
	p.those = p.othersNext || l.stopped(false) >= l.most
	p.kinds, p.ids = l.aggregates(p.again, p.those)
	p.room, p.bytes = mostRows+len(l.late)-len(p.known), mostBytes-l.bytes
	return p
}

// fill reads events.
func (l *lead) fill(p *reading) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		// The table may get a column at any time: no plan of an earlier read is kept.
		rows, err := l.conn.Query(ctx, readSQL, pgx.QueryExecModeCacheDescribe, p.known, p.kinds, p.ids, p.room, p.bytes, p.those, p.crowd)
		if err != nil {
			return nil, err
		}
		events, err := pgx.CollectRows(rows, l.event)
		if err == nil && len(events) > 0 {
			err = l.confirm(ctx)
		}
		return func() { l.add(p, events) }, err
	}
}

// add takes the events that were read.
func (l *lead) add(p *reading, events []*event) {
	for _, e := range events {
		l.line(e, p.asked)
	}
	l.more = len(events) == p.room || l.bytes >= mostBytes/2
	if !l.more {
		l.release(p.again)
	}
	l.more = l.more || p.othersNext
}

// line adds an event to the line of its aggregate. If one before it was refused since it was asked
// for, it is read again with that one. Of an aggregate that is retried only the first event is
// kept: the later ones would take the room of others.
func (l *lead) line(e *event, asked time.Time) {
	if h := l.held[e.aggregate]; h != nil && asked.Before(h.until) {
		return
	}
	if l.held[e.aggregate] != nil {
		if l.again[e.aggregate] {
			return
		}
		l.again[e.aggregate] = true
	}
	l.lines[e.aggregate] = append(l.lines[e.aggregate], e)
	l.bytes += e.bytes
}

// due are some of the aggregates that are held back: their time has come, and they are not read.
func (l *lead) due(now time.Time) map[aggregate]bool {
	again, read, bytes := map[aggregate]bool{}, 0, 0
	if l.lateBytes > mostLate/4 {
		return again
	}
	for a, h := range l.held {
		if l.lines[a] != nil && l.late[a] == nil {
			read, bytes = read+1, bytes+h.bytes
		}
	}
	for a, h := range l.held {
		if l.lines[a] == nil && !now.Before(h.until) && read < mostDue && (read == 0 || bytes+h.bytes <= mostBytes/4) {
			again[a] = true
			read, bytes = read+1, bytes+h.bytes
		}
	}
	return again
}

// crowd returns the topics of dead letters, if so many of them are stopped that no others are
// read. Then a read is of those that are due, and the next one of what is not held back.
func (l *lead) crowd() []string {
	topics := map[string]bool{}
	if l.stopped(true) >= l.most {
		for a := range l.held {
			topics[a.kind] = topics[a.kind] || a.letters
		}
		for a := range l.late {
			topics[a.kind] = topics[a.kind] || a.letters
		}
	}
	maps.DeleteFunc(topics, func(_ string, letters bool) bool { return !letters })
	return slices.AppendSeq([]string{}, maps.Keys(topics))
}

// aggregates says which ones are read: those that are due only, or all but those that wait for a
// late answer, or are held back and not due.
func (l *lead) aggregates(due map[aggregate]bool, those bool) (kinds, ids []string) {
	add := func(a aggregate) { kinds, ids = append(kinds, a.kind), append(ids, a.id) }
	for a := range l.held {
		if due[a] == those {
			add(a)
		}
	}
	for a := range l.late {
		if !those && l.held[a] == nil {
			add(a)
		}
	}
	return kinds, ids
}

// release forgets aggregates that were held back and have no events any more: somebody deleted
// them.
func (l *lead) release(read map[aggregate]bool) {
	for a := range read {
		if l.lines[a] == nil && l.held[a] != nil {
			l.forget(a)
		}
	}
}

// event is a row. Each further column of type text is a header; others are not sent. A dead letter
// has its topic in place of the aggregate type, and headers of its own.
func (l *lead) event(row pgx.CollectableRow) (*event, error) {
	e := &event{}
	headers := []Header{{Name: "id"}, {Name: "type"}}
	fields := row.FieldDescriptions()
	into := make([]any, len(fields))
	texts := make([]*string, len(fields))
	var about []string // a dead letter
	for i, f := range fields {
		switch f.Name {
		case "seq":
			into[i] = &e.seq
		case "id":
			into[i] = &e.id
		case "aggregatetype":
			into[i] = &e.kind
		case "aggregateid":
			into[i] = &e.aggregate.id
		case "type":
			into[i] = &e.kindOf
		case "payload":
			into[i] = &e.record.Value
		case "idem_letter":
			into[i] = &about
		default:
			if f.DataTypeOID == pgtype.TextOID || f.DataTypeOID == pgtype.VarcharOID {
				into[i] = &texts[i]
			}
		}
	}
	if err := row.Scan(into...); err != nil {
		return nil, fmt.Errorf("read idem_outbox: %w", err)
	}
	headers[0].Value, headers[1].Value = []byte(e.id), []byte(e.kindOf)
	for i, text := range texts {
		if text != nil {
			headers = append(headers, Header{fields[i].Name, []byte(*text)})
		}
	}
	e.bytes = len(e.record.Value)
	if about != nil {
		e.record.Topic, e.letters = e.kind, true
		e.invalid = letter(&e.record, about)
		return e, nil
	}
	e.record.Topic, e.invalid = l.topic(e.kind)
	e.record.Key, e.record.Headers = []byte(e.aggregate.id), headers
	return e, nil
}

// deleteSQL deletes events, if it need not wait long for their rows.
const deleteSQL = `DELETE FROM idem_outbox WHERE seq = ANY($1)`

// removeSQL deletes events, except those that another transaction has locked. It is slower.
const removeSQL = `
WITH free AS (SELECT seq FROM idem_outbox WHERE seq = ANY($1) FOR UPDATE SKIP LOCKED)
DELETE FROM idem_outbox USING free WHERE idem_outbox.seq = free.seq`

// leftSQL returns the events that are still there.
const leftSQL = `SELECT seq FROM idem_outbox WHERE seq = ANY($1)`

// remove deletes what the broker has. Only the session that leads can: it ends with the lead. What
// it does not delete is not sent again, but deleted later: another transaction has locked the row,
// or a trigger or a rule of the table prevents the delete.
func (l *lead) remove(seqs []int64, locked bool) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		if !locked {
			b := &pgx.Batch{}
			b.Queue(`SELECT pg_catalog.set_config('lock_timeout', '200ms', true)`)
			deleted := int64(0)
			b.Queue(deleteSQL, seqs).Exec(func(tag pgconn.CommandTag) error { deleted = tag.RowsAffected(); return nil })
			err := l.conn.SendBatch(ctx, b).Close()
			of, rejected := errors.AsType[*pgconn.PgError](err)
			switch {
			case rejected && of.Code == lockNotAvailable:
			case err != nil:
				return nil, explainedDelete(err)
			case deleted == int64(len(seqs)):
				return l.gone(len(seqs), nil), nil
			}
		}
		if _, err := l.conn.Exec(ctx, removeSQL, seqs); err != nil {
			return nil, explainedDelete(err)
		}
		rows, err := l.conn.Query(ctx, leftSQL, seqs)
		if err != nil {
			return nil, explainedDelete(err)
		}
		left, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		return l.gone(len(seqs), left), explainedDelete(err)
	}
}

// lockNotAvailable is the code of Postgres for a lock that was not given in time.
const lockNotAvailable = "55P03"

// gone takes it that so many of the acknowledged events are deleted, but those that are left.
func (l *lead) gone(n int, left []int64) func() {
	return func() {
		l.acked.seqs, l.acked.locked = append(left, l.acked.seqs[n:]...), len(left)
		now := time.Now()
		switch {
		case len(left) == 0:
			l.acked.stuck = time.Time{}
			l.tell(aboutDelete, nil)
		case l.acked.stuck.IsZero():
			l.acked.stuck = now
		case now.Sub(l.acked.stuck) >= undeletable:
			why := errors.New("another transaction locks their rows, or a trigger or a rule of the table prevents the delete; the next relay that leads sends them again")
			err := &lasting{count(len(left), "event that the broker has is", "events that the broker has are") + " not deleted from idem_outbox", l.acked.stuck, why}
			if l.tell(aboutDelete, err) {
				l.log().Error("outbox: " + err.Error())
			}
		}
	}
}

// undeletable is how long acknowledged events may stay in the table before Health reports it.
const undeletable = 5 * time.Second

func explainedDelete(err error) error {
	if err != nil {
		return fmt.Errorf("delete from idem_outbox: %w", err)
	}
	return nil
}

// measureSQL counts the events that wait, as far as it matters, and says how long the first of
// them has.
const measureSQL = `
SELECT pg_catalog.count(*), coalesce(extract(epoch FROM pg_catalog.clock_timestamp() - (SELECT written_at FROM idem_outbox ORDER BY seq LIMIT 1)), 0)::float8
FROM (SELECT 1 FROM idem_outbox LIMIT $1 + 1) x`

// measure counts the events that wait, and verifies the session.
func (l *lead) measure(ctx context.Context) (func(), error) {
	if err := l.verify(ctx); err != nil {
		return nil, err
	}
	waiting, oldest, err := l.look(ctx, l.conn)
	if err != nil {
		return nil, err
	}
	return func() { l.know(waiting, oldest) }, nil
}

// know takes how many events wait, and for how long.
func (l *lead) know(waiting int, oldest time.Duration) {
	now := time.Now()
	maps.DeleteFunc(l.topics, func(_ string, t *topic) bool { return t.flying == 0 && now.After(t.others) })
	l.count(func(n *numbers) { n.wait(waiting, oldest) })
	l.tellUnanswered(now)
	var err error
	if most := l.mostWaiting(); waiting > most {
		err = fmt.Errorf("more than %d events wait in idem_outbox", most)
	}
	if l.tell(aboutWaiting, err) && err != nil {
		l.log().Error("outbox: " + err.Error())
	}
}

// look asks how many events wait, and for how long.
func (r *Relay) look(ctx context.Context, conn *pgx.Conn) (waiting int, oldest time.Duration, _ error) {
	var seconds float64
	if err := conn.QueryRow(ctx, measureSQL, r.mostWaiting()).Scan(&waiting, &seconds); err != nil {
		return 0, 0, fmt.Errorf("count idem_outbox: %w", explained(err))
	}
	return waiting, time.Duration(seconds * float64(time.Second)), nil
}

func (r *Relay) mostWaiting() int { return cmp.Or(r.MaxWaiting, defaultWaiting) }

// flush waits for the outcome of what is on its way, and deletes what the broker has.
func (l *lead) flush(ended context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), flushFor)
	defer cancel()
	if err := l.quiet(ctx); err != nil {
		return err
	}
	l.lines = firsts(l.lines)
	for len(l.sent) > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case o := <-l.done:
			l.conclude(o)
		}
	}
	if len(l.acked.seqs) == 0 {
		return nil
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), removeFor)
	defer cancel()
	_, err := l.remove(l.acked.seqs, l.acked.locked > 0)(ctx)
	return err
}

// firsts are the lines without what is not on its way, so that nothing follows.
func firsts(lines map[aggregate][]*event) map[aggregate][]*event {
	for a, line := range lines {
		lines[a] = slices.Clip(line[:1])
	}
	return lines
}

// abandon gives up what is on its way. The next lead sends it again. It does not wait for long for
// a producer that does not give up its records: the channel has room for all of their outcomes.
func (l *lead) abandon() {
	l.end()
	if len(l.sent) == 0 {
		return
	}
	l.Producer.Purge()
	late := time.After(flushFor)
	for len(l.sent) > 0 {
		select {
		case o := <-l.done:
			delete(l.sent, o.seq)
		case <-late:
			return
		}
	}
}
