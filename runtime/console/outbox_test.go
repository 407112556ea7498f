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
	refused := error(&outbox.RefusedError{Err: errors.New("MESSAGE_TOO_LARGE")})
	b.err.Store(&refused)
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
	says("the broker rejects events of the outbox", "MESSAGE_TOO_LARGE", "see whether the topic exists", "refused</span>")
	away := errors.New("no broker answers")
	b.err.Store(&away)
	says("the relay of the outbox cannot reach the broker", "no broker answers", "see whether the brokers run")
	b.err.Store(nil)
	says("1 partition halted", "0 events wait", "sends</span>")
}
