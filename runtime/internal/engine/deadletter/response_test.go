package deadletter_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
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
	db := rig.Database(t)
	kept := func() string {
		return rig.Query(t, db, `SELECT string_agg(coalesce(convert_from(response, 'UTF8'), 'none'), ', ' ORDER BY offs) FROM idem_dead_letter`)
	}
	var p rig.Provider
	answer := refusal("no such card" + strings.Repeat(".", 1000))
	p.Call = func(context.Context, int32, int) error { return idem.Permanent(fmt.Errorf("charge: %w", answer)) }
	s := p.Service(rig.Terms)
	s.Options = append(s.Options, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "a: effect 1"))
	rig.Want(t, "response", kept(), string(answer[:500]))
	rig.Want(t, "letters", rig.LettersNow(t, db), "0 d")
	rig.Want(t, "versions", rig.Query(t, db, `SELECT version FROM idem_dead_letter`), process.Version())
	answer = "card expired"
	rig.Ask(t, db, "replay", 0)
	rig.Settled(t, db, w)
	rig.Want(t, "response to the replay", kept(), "card expired")
	s.Policy.Drop = true
	w = rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, rig.Records(1, "b: effect 2"))
	rig.Want(t, "responses", kept(), "card expired, none")
	if text := log.String(); strings.Contains(text, "card") {
		t.Error(text)
	}
}
