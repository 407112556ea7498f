package console_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// broker answers all records with an error, or nil.
type broker struct{ err atomic.Pointer[error] }

func (b *broker) Produce(_ outbox.Record, done func(error)) {
	var err error
	if is := b.err.Load(); is != nil {
		err = *is
	}
	go done(err)
}

func (*broker) Purge() {}

// Whatever holds back the events of an outbox is named by its page: that no relay runs, that the
// broker rejects one, with the reason, or that it is away.
func TestWhatHoldsBackTheOutboxIsNamed(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `DELETE FROM idem_dead_letter; INSERT INTO idem_outbox (aggregatetype, aggregateid, type, written_at) SELECT 'order', 'a', 'OrderSent', now() - interval '5 minutes' FROM generate_series(1, 3)`)
	s.has("", "no relay sends the outbox")
	s.has("outbox", "Is a process with a relay running")
	b := &broker{}
	rejects := func(cause outbox.Cause) {
		refused := error(&outbox.RefusedError{Err: errors.New("REFUSED: by the broker."), Cause: cause})
		b.err.Store(&refused)
	}
	rejects(outbox.TooLarge)
	idemtest.Exec(t, s.db, `UPDATE idem_outbox SET written_at = now()`) // events that have not waited for long
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	r := &outbox.Relay{DB: s.db, Producer: b, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	go func() { ended <- r.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	says := func(headline string, page ...string) {
		t.Helper()
		eventually(t, func() bool {
			text := s.get("outbox")
			for _, want := range page {
				if !strings.Contains(text, want) {
					return false
				}
			}
			return strings.Contains(s.get(""), headline)
		})
	}
	const topic = "outbox.event.order"
	says("an event of the outbox is too large for topic "+topic, "too-large</span>", "REFUSED: by the broker. Raise max.message.bytes of topic "+topic+",", "DELETE FROM idem_outbox WHERE id = &#39;", "Or, where the event is given up: ", "leads: its session is", " of Postgres")
	s.has("", `<li class="urgent"><a href="outbox"><span>Outbox</span>`)
	rejects(outbox.NoTopic)
	says("topic "+topic+" of the outbox is missing", "topic-missing</span>", "Create topic "+topic+": the relay then sends its events by itself.")
	rejects("")
	says("the broker rejects events of the outbox", "refused</span>", "Remove the cause that the error names", "DELETE FROM idem_outbox WHERE id = &#39;")
	away := errors.New("no broker answers")
	b.err.Store(&away)
	says("the relay of the outbox cannot reach the broker", "broker</span>", "no broker answers. See whether the brokers run")
	b.err.Store(nil)
	says(`<li class="fine"><a href="outbox"><span>Outbox</span>`, "0 events wait", "sends</span>")
}
