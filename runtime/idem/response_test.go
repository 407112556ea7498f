package idem_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idem"
)

// refusal is an error with what the other side answered.
type refusal string

func (r refusal) Error() string    { return "status 422" }
func (r refusal) Response() []byte { return []byte(r) }

// What the other side answered to a call that was refused is kept beside the letter, cut, and as
// payloads are; no error and no log has it. So is the version that rejected the record.
func TestResponsesAreKeptAsPayloads(t *testing.T) {
	t.Parallel()
	var log transcript.Buffer
	db := database(t)
	kept := func() string {
		return query(t, db, `SELECT string_agg(coalesce(convert_from(response, 'UTF8'), 'none'), ', ' ORDER BY offs) FROM idem_dead_letter`)
	}
	var p provider
	answer := refusal("no such card" + strings.Repeat(".", 1000))
	p.call = func(context.Context, int32, int) error { return idem.Permanent(fmt.Errorf("charge: %w", answer)) }
	s := p.service(terms)
	s.options = append(s.options, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	w := own(t, s.consumer(t, db))
	apply(t, w, records(0, "a: effect 1"))
	want(t, "response", kept(), string(answer[:500]))
	want(t, "letters", lettersNow(t, db), "0 d")
	want(t, "versions", query(t, db, `SELECT version FROM idem_dead_letter`), process.Version())
	answer = "card expired"
	ask(t, db, "replay", 0)
	settled(t, db, w)
	want(t, "response to the replay", kept(), "card expired")
	s.policy.Drop = true
	w = own(t, s.consumer(t, db))
	apply(t, w, records(1, "b: effect 2"))
	want(t, "responses", kept(), "card expired, none")
	if text := log.String(); strings.Contains(text, "card") {
		t.Error(text)
	}
}
