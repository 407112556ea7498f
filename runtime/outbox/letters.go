package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// letters is the time in which one relay sends the dead letters of a consumer. What it knows ends
// with it. Letters have no order that they must keep: each goes as soon as the broker takes it.
type letters struct {
	*Relay
	tenure
	acked  []place // to be marked
	held   map[place]*held
	retry  bool // a letter that was refused was tried last: now others have their turn
	broker outage
}

// letters is the duty to send dead letters. Several consumers may share a database: each has a
// lead of its own.
func (r *Relay) letters() duty {
	return duty{
		what: "dead letters of " + r.DeadLetters.consumer, database: aboutLettersDatabase, tells: []string{aboutLettersBroker, aboutLettersRefused},
		key:  `pg_catalog.hashtextextended('dead letters of ' || $1::text, 'idem_dead_letter'::regclass::oid::bigint)`,
		args: []any{r.DeadLetters.consumer}, proof: `UPDATE idem_dead_letter SET sent_at = NULL WHERE false`, channel: "idem_dead_letter",
		lead: func(ctx context.Context, t tenure) error {
			defer r.count(func(n *numbers) { n.LettersHeld = 0 })
			return (&letters{Relay: r, tenure: t, held: map[place]*held{}}).run(ctx)
		},
	}
}

// run sends letters until the context ends, or the session does.
func (l *letters) run(ctx context.Context) error {
	for ctx.Err() == nil {
		batch, err := l.next(ctx)
		if err == nil && len(batch) > 0 {
			err = l.send(ctx, batch)
		} else if err == nil {
			err = l.wait(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// next reads what is sent next: letters that were not tried, or one that was refused. It goes
// alone: it may have been in a batch that was too large.
func (l *letters) next(ctx context.Context) ([]*letter, error) {
	if err := l.ping(ctx); err != nil {
		return nil, err
	}
	if err := l.mark(ctx); err != nil || time.Now().Before(l.broker.resume) {
		return nil, err
	}
	if p, due := l.due(); !l.retry && due {
		l.retry = true
		found, err := l.read(ctx, []place{p}, true)
		if err == nil && len(found) == 0 { // replayed, discarded, erased
			l.release(p)
		}
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	l.retry = false
	if len(l.held) >= l.most {
		return nil, nil
	}
	return l.read(ctx, append(slices.Collect(maps.Keys(l.held)), l.acked...), false)
}

// due is the letter that was refused and is to be tried again first, if its time has come.
func (l *letters) due() (p place, is bool) {
	if len(l.held) == 0 {
		return p, false
	}
	p = slices.MinFunc(slices.Collect(maps.Keys(l.held)), func(a, b place) int { return l.held[a].until.Compare(l.held[b].until) })
	return p, !time.Now().Before(l.held[p].until)
}

// wait waits for word of a commit, or until there is something to do without one.
func (l *letters) wait(ctx context.Context) error {
	patience := l.pace.poll
	if p, _ := l.due(); len(l.held) > 0 {
		patience = min(patience, time.Until(l.held[p].until))
	}
	if l.broker.failures > 0 {
		patience = time.Until(l.broker.resume)
	}
	limited, cancel := context.WithTimeout(ctx, max(patience, time.Millisecond))
	defer cancel()
	_, err := l.conn.WaitForNotification(limited)
	if limited.Err() != nil {
		return ctx.Err()
	}
	return err
}

// send sends letters, and marks those that the broker has. When the context ends it waits for
// those that are on their way, for a while.
func (l *letters) send(ctx context.Context, batch []*letter) error {
	type outcome struct {
		of  *letter
		err error
	}
	done, left := make(chan outcome, len(batch)), 0
	for _, of := range batch {
		r, err := l.DeadLetters.record(of)
		if err != nil {
			l.hold(of, err)
			continue
		}
		left++
		l.produce(r, func(err error) { done <- outcome{of, err} })
	}
	beat := time.NewTicker(countEvery) // keeps the session alive: see silence
	defer beat.Stop()
	ended, late, failed := ctx.Done(), (<-chan time.Time)(nil), error(nil)
	for left > 0 {
		select {
		case o := <-done:
			left--
			if err := l.conclude(o.of, o.err); err != nil {
				failed = err
			}
		case <-beat.C:
			if err := l.ping(ctx); err != nil {
				return err
			}
		case <-ended:
			ended, late = nil, time.After(flushFor)
		case <-late:
			left = 0
		}
	}
	l.judge(failed)
	return l.mark(ctx)
}

// ping keeps the session alive, and verifies that it is.
func (l *letters) ping(ctx context.Context) error {
	ctx, cancel := l.asking(context.WithoutCancel(ctx))
	defer cancel()
	return l.verify(ctx)
}

// conclude takes what became of a letter. It returns an error for which no letter is to blame.
func (l *letters) conclude(of *letter, err error) error {
	refused, is := errors.AsType[*RefusedError](err)
	switch {
	case err == nil:
		l.acked = append(l.acked, of.place)
		l.count(func(n *numbers) { n.LettersSent++ })
		l.release(of.place)
	case is:
		l.hold(of, refused)
	default:
		return err
	}
	return nil
}

// judge tells whether the broker takes letters.
func (l *letters) judge(failed error) {
	switch {
	case failed != nil:
		err := l.broker.fail("dead letters", failed)
		if l.tell(aboutLettersBroker, err) {
			l.log().Warn("outbox: the broker accepts no dead letters", "err", err)
		}
	case l.broker.failures > 0:
		l.log().Info("outbox: the broker takes dead letters again", "after", time.Since(l.broker.since).Round(time.Second))
		l.broker = outage{}
		l.tell(aboutLettersBroker, nil)
	}
}

// hold keeps a letter for later that cannot be sent: the broker refuses it, or it is damaged.
func (l *letters) hold(of *letter, err error) {
	h := l.held[of.place]
	if h == nil {
		h = &held{seq: of.seq}
		l.held[of.place] = h
	}
	h.failures++
	h.until = time.Now().Add(pause(h.failures))
	h.err = fmt.Errorf("%s/%d offset %d, to topic %q: %w", of.topic, of.partition, of.offs, l.DeadLetters.topic, err)
	if h.failures == 2 { // this time it went alone
		l.log().Error("outbox: a dead letter cannot be sent", append([]any{"err", h.err}, stack(err)...)...)
	}
	l.tellHeld()
}

// release forgets that a letter was refused.
func (l *letters) release(p place) {
	if l.held[p] != nil {
		delete(l.held, p)
		l.tellHeld()
	}
}

// tellHeld makes Health name one of the letters that are refused.
func (l *letters) tellHeld() {
	l.count(func(n *numbers) { n.LettersHeld = len(l.held) })
	if len(l.held) == 0 {
		l.tell(aboutLettersRefused, nil)
		return
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(l.held)), comparePlaces)
	l.tell(aboutLettersRefused, fmt.Errorf("%d dead letters cannot be sent, the first one of %w", len(l.held), l.held[first].err))
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.offs, b.offs), cmp.Compare(a.seq, b.seq))
}
