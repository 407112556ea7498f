package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// term is the time in which this process is the one that sends. What it knows ends with it.
type term struct {
	*Relay
	session  *sessionOf
	sender   Sender
	pace     pace
	floor    floor
	held     map[target]*heldBack
	failures int // in a row: Kafka took nothing
}

const (
	usualRows  = 1000
	usualBytes = 4 << 20
	usualPoll  = 200 * time.Millisecond
)

func (t *term) batchRows() int    { return cmp.Or(t.BatchRows, usualRows) }
func (t *term) batchBytes() int64 { return cmp.Or(t.BatchBytes, usualBytes) }

// run sends until ctx ends, which is no error, or something fails.
func (t *term) run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait, err := t.step(ctx)
		if err != nil {
			return inWords(err)
		}
		if wait > 0 && !backoff.Sleep(ctx, wait) {
			return nil
		}
	}
	return nil
}

// step reads once and sends what it read. It returns how long to wait before the next one.
func (t *term) step(ctx context.Context) (wait time.Duration, err error) {
	if err := t.remove(ctx); err != nil { // of an earlier term
		return 0, err
	}
	if err := t.tryHeld(ctx); err != nil {
		return 0, err
	}
	if err := t.survey(ctx); err != nil {
		return 0, err
	}
	if len(t.held) > mostHeld {
		t.stands(fmt.Errorf("more than %d records were refused by Kafka: nothing new is sent", mostHeld))
		return t.poll(0), nil
	}
	begun := time.Now()
	rows, err := t.page(ctx)
	if err != nil {
		return 0, err
	}
	t.noteOldest(rows)
	if len(rows) == 0 {
		if t.failures == 0 || len(t.held) == 0 {
			t.goesOn()
		}
		return t.poll(time.Since(begun)), nil
	}
	t.floor.seen = max(t.floor.seen, rows[len(rows)-1].id)
	outage, err := t.send(ctx, rows, t.hold)
	if err != nil || outage == nil {
		return 0, err
	}
	return t.away(outage), nil
}

// poll is the pause behind a read that found nothing. It must find that all rows are held back
// in a part of the time.
func (t *term) poll(took time.Duration) time.Duration {
	return max(cmp.Or(t.Poll, usualPoll), share*took)
}

// away is what follows when Kafka took nothing.
func (t *term) away(why error) time.Duration {
	t.failures++
	t.stands(kafkaAway(why))
	return backoff.Pause(t.failures, backoff.Initial, backoff.Most)
}

func kafkaAway(err error) error { return fmt.Errorf("no record can be sent to Kafka: %w", err) }

func (t *term) stands(why error) { t.status.condition.Set(t.log(), why) }

func (t *term) goesOn() {
	t.failures = 0
	t.stands(nil)
}

// send sends rows and deletes those that Kafka has. Refuse hears of those that it refuses. An
// outage is why it took and refused none.
func (t *term) send(ctx context.Context, rows []row, refuse func(row, *RefusedError)) (outage, err error) {
	answers, lost := t.dispatch(ctx, rows)
	if err := fault.At(ctx, fault.Acknowledged); err != nil {
		return nil, err
	}
	progress := false
	for i, answer := range answers {
		if refused, ok := errors.AsType[*RefusedError](answer); ok {
			refuse(rows[i], refused)
			progress = true
		} else if answer == nil {
			t.acked = append(t.acked, rows[i].named)
			progress = true
		} else if outage == nil || errors.Is(outage, ErrHeldBack) {
			outage = answer
		}
		if errors.Is(answer, ErrBroken) {
			lost = cmp.Or(lost, kafkaAway(answer))
		}
	}
	t.status.sent.Add(int64(len(t.acked)))
	if err := errors.Join(lost, t.remove(ctx)); err != nil {
		return nil, cmp.Or(lost, err)
	}
	if progress {
		if t.failures = 0; len(t.held) <= mostHeld {
			t.goesOn()
		}
		return nil, nil
	}
	return outage, nil
}

// dispatch has rows sent while the session is watched: who loses it stops at once. When ctx ends,
// what is on its way has some time left.
func (t *term) dispatch(ctx context.Context, rows []row) (answers []error, lost error) {
	records := make([]Record, len(rows))
	for i := range rows {
		records[i] = rows[i].Record
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(t.pace.drain, cancel) })()
	watching, enough := context.WithCancel(sending)
	defer enough()
	t.status.onItsWay(time.Now())
	defer t.status.onItsWay(time.Time{})
	sent, watched := make(chan []error, 1), make(chan error, 1)
	go func() { sent <- t.sender.Send(sending, records) }()
	go func() { watched <- t.session.watch(watching, t.pace.heartbeat) }()
	select {
	case answers = <-sent:
		enough()
		return answers, <-watched
	case lost = <-watched:
		cancel()
		return <-sent, lost
	}
}

// end closes the sender, and forgets.
func (t *term) end() {
	if err := t.sender.Close(); err != nil {
		t.log().Warn("the Kafka client did not close as it should", "err", err)
	}
	t.status.lead(false)
}

func (t *term) noteOldest(rows []row) {
	var oldest time.Time
	note := func(since time.Time) {
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	if len(rows) > 0 {
		note(rows[0].since)
	}
	for _, h := range t.held {
		note(h.row.since)
	}
	t.status.setOldest(oldest)
}
