package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
)

// target is what a refused row holds back: its aggregate, or its topic.
type target struct {
	topic, key string
	whole      bool // the topic; key is empty
}

// heldBack is a row that Kafka refused, and that holds back its target.
type heldBack struct {
	row   row // without its value
	why   error
	tries int // alone: 0 while another row of its batch may be to blame
	next  time.Time
}

const (
	// mostHeld is how many refused rows are passed over. More mean that something is wrong with
	// Kafka, or with what is sent, as a whole.
	mostHeld = 1000
	// trials is how many refused rows are tried again between two reads.
	trials = 16
)

func targetOf(r row, refused *RefusedError) target {
	if refused.Topic {
		return target{topic: r.Topic, whole: true}
	}
	return target{topic: r.Topic, key: string(r.Key)}
}

// hold holds back what comes behind a row that Kafka refused in company of others. It is tried
// alone next: a broker may refuse all records of a request for one of them.
func (t *term) hold(r row, refused *RefusedError) {
	at := targetOf(r, refused)
	if h, ok := t.held[at]; ok && h.row.id <= r.id {
		return
	}
	r.Value = nil
	t.held[at] = &heldBack{row: r, why: refused.Err}
	t.tellHeld()
}

// excluded are topics and aggregates that are held back, as statements take them.
func (t *term) excluded() (topics, ofTopics, keys []string) {
	topics, ofTopics, keys = []string{}, []string{}, []string{}
	for at := range t.held {
		if at.whole {
			topics = append(topics, at.topic)
		} else {
			ofTopics, keys = append(ofTopics, at.topic), append(keys, at.key)
		}
	}
	return topics, ofTopics, keys
}

// tryHeld tries refused rows again, those first whose time came first.
func (t *term) tryHeld(ctx context.Context) error {
	now := time.Now()
	var due []target
	for at, h := range t.held {
		if !h.next.After(now) {
			due = append(due, at)
		}
	}
	slices.SortFunc(due, func(a, b target) int {
		return cmp.Or(t.held[a].next.Compare(t.held[b].next), cmp.Compare(t.held[a].row.id, t.held[b].row.id))
	})
	for _, at := range due[:min(len(due), trials)] {
		if away, err := t.try(ctx, at); err != nil || away {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// try sends one row alone. Away says that Kafka took nothing and refused nothing.
func (t *term) try(ctx context.Context, at target) (away bool, err error) {
	h := t.held[at]
	r, found, err := t.find(ctx, h.row.id)
	if err != nil {
		return false, err
	}
	if !found || r.event != h.row.event || r.Topic != at.topic || !at.whole && string(r.Key) != at.key {
		t.release(at) // a person has deleted or changed it
		return false, nil
	}
	var refused *RefusedError
	outage, err := t.send(ctx, []row{r}, func(_ row, why *RefusedError) { refused = why })
	switch {
	case err != nil:
		return false, err
	case refused != nil:
		t.refusedAlone(at, h, refused)
	case outage != nil:
		h.next = time.Now().Add(t.away(outage))
		return true, nil
	default:
		if h.tries > 0 {
			t.log().Info("the event was sent after all", h.attributes()...)
		}
		t.release(at)
	}
	return false, nil
}

// refusedAlone names a row for which no other can be to blame, and says when it is tried again.
func (t *term) refusedAlone(at target, h *heldBack, refused *RefusedError) {
	news := h.tries == 0 || h.why.Error() != refused.Error()
	h.why = refused.Err
	h.tries++
	h.next = time.Now().Add(backoff.Pause(h.tries, t.pace.retry, t.pace.mostRetry))
	if now := targetOf(h.row, refused); now != at {
		delete(t.held, at)
		if o, ok := t.held[now]; !ok || h.row.id < o.row.id {
			t.held[now] = h
		}
	}
	if news {
		t.log().Error("an event cannot be sent: it holds back later ones of its record key; it is tried again", append(h.attributes(), "reason", h.why)...)
	}
	t.tellHeld()
}

func (t *term) release(at target) {
	delete(t.held, at)
	t.tellHeld()
}

// attributes name a row without its key and its value.
func (h *heldBack) attributes() []any {
	return []any{"row", h.row.id, "topic", h.row.Topic, "type", h.row.kind, "event_id", h.row.event}
}

// tellHeld tells Health which rows cannot be sent.
func (t *term) tellHeld() {
	var all []*heldBack
	for _, h := range t.held {
		if h.tries > 0 {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *heldBack) int { return cmp.Compare(a.row.id, b.row.id) })
	var lines []error
	for _, h := range all[:min(len(all), mostNamed)] {
		lines = append(lines, fmt.Errorf("event %s of topic %s (%s of %s) cannot be sent, and holds back later ones of its record key: %w",
			h.row.kind, h.row.Topic, h.row.named, t.table.Table, h.why))
	}
	if more := len(all) - len(lines); more > 0 {
		lines = append(lines, fmt.Errorf("%d more events of %s cannot be sent", more, t.table.Table))
	}
	t.status.cannotSend(len(all), errors.Join(lines...))
}

// mostNamed is how many events Health names.
const mostNamed = 10
