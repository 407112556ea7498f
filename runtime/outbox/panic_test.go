package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// An event that has no valid topic, or on which the producer or Relay.Topic panics, is refused: it
// holds back its aggregate and no other one, Health says why, and it never reaches the client if
// its topic cannot exist.
func TestAnEventThatNoClientTakesIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600)
	for name, c := range map[string]struct {
		kind  string // the aggregate type of the event
		says  string
		topic string                 // of it; "-" is the usual one
		bad   func(done func(error)) // what the client does with it
	}{
		"a topic that is too long":             {long, "not a valid topic name", "-", nil},
		"a topic one byte too long":            {long[:250-len("outbox.event.")], "not a valid topic name", "-", nil},
		"a topic with a letter beyond ASCII":   {"bücher", "not a valid topic name", "-", nil},
		"a topic with a space":                 {"a b", "not a valid topic name", "-", nil},
		"a topic of dots":                      {"dots", "not a valid topic name", "..", nil},
		"no topic":                             {"none", "Relay.Topic has no topic for it", "", nil},
		"a Relay.Topic that panics":            {"panics", "Relay.Topic panicked: no such type", "panic", nil},
		"a producer that panics":               {"bad", "the producer panicked: out of cheese", "-", func(func(error)) { panic("out of cheese") }},
		"a producer that answers, then panics": {"bad", "refused: too bad", "-", answersThenPanics},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, to := table(t, outbox.ByRelay), &log{}
			r, stop := relay(t, db, &client{log: to, bad: c.bad}, func(r *outbox.Runner) {
				if c.topic != "-" {
					r.Topic = topics(c.topic)
				}
			})
			e := outbox.Event{AggregateType: c.kind, AggregateID: "7", Type: "Seen", Payload: outbox.Bytes([]byte("bad"))}
			if err := outbox.Write(t.Context(), db, e); err != nil {
				t.Fatal(err)
			}
			until(t, "Health says it", func() bool { return strings.Contains(fmt.Sprint(r.Health()), c.says) })
			write(t, db, "8", "1", "2")
			until(t, "another aggregate goes on", func() bool { return to.of("8") == "1 2" && left(t, db) == "1" })
			want(t, "sent of the one that is held back", to.of("7"), "")
			idemtest.Exec(t, db, `DELETE FROM idem_outbox`)
			until(t, "Health is good", func() bool { return r.Health() == nil })
			stop()
		})
	}
}

// topics is a Relay.Topic that has one topic, or panics, for all but users.
func topics(name string) func(string) string {
	return func(kind string) string {
		switch {
		case kind == "user":
			return "users"
		case name == "panic":
			panic("no such type")
		}
		return name
	}
}

// client is a client of the broker that does something of its own with the value "bad", or must
// not be given it.
type client struct {
	*log
	bad func(done func(error))
}

func (c *client) Produce(r outbox.Record, done func(error)) {
	switch {
	case string(r.Value) != "bad":
		c.log.Produce(r, done)
	case c.bad == nil:
		c.log.Produce(outbox.Record{Key: []byte("7"), Value: []byte("was given to the client")}, done)
	default:
		c.bad(done)
	}
}

func answersThenPanics(done func(error)) {
	done(&outbox.RefusedError{Err: errors.New("too bad")})
	panic("out of cheese")
}

// A relay that panics in the middle says so in Health and in its log, and goes on after a pause. A
// producer that does not give up what is on its way does not keep it from that.
func TestRelayThatPanicsGoesOn(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	broker.answers(func(outbox.Record) error { return errStuck })
	var h panicsOnce
	r, _ := relay(t, db, keeps{broker}, func(r *outbox.Runner) { r.Logger = slog.New(&h) })
	write(t, db, "7", "1")
	write(t, db, "8", "2")
	until(t, "both are on their way", func() bool { broker.mu.Lock(); defer broker.mu.Unlock(); return len(broker.stuck) == 2 })
	h.armed.Store(true)
	broker.answers(nil)
	broker.mu.Lock()
	broker.stuck[0](errors.New("no broker"))
	broker.mu.Unlock()
	until(t, "Health says it", func() bool { return strings.Contains(fmt.Sprint(r.Health()), "the relay panicked: the log is full") })
	until(t, "all is sent, and Health is good", func() bool { return left(t, db) == "0" && r.Health() == nil })
}

// keeps is a producer that does not give up records.
type keeps struct{ *log }

func (keeps) Purge() {}

// panicsOnce is a log that panics at the first warning once it is armed.
type panicsOnce struct{ armed atomic.Bool }

func (*panicsOnce) Enabled(context.Context, slog.Level) bool { return true }
func (p *panicsOnce) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn && p.armed.CompareAndSwap(true, false) {
		panic("the log is full")
	}
	return nil
}
func (p *panicsOnce) WithAttrs([]slog.Attr) slog.Handler { return p }
func (p *panicsOnce) WithGroup(string) slog.Handler      { return p }
