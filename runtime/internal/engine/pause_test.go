package engine_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// pause has an operator pause the partition, or resume it.
func pause(t *testing.T, db *pgxpool.Pool, do func(name operate.Name, by operate.By) (operate.Change, error)) {
	t.Helper()
	change, err := do(operate.Name{Consumer: "test", Topic: rig.Topic}, operate.By{Operator: "ann", Reason: "repair"})
	if err != nil || !change.Appended {
		t.Fatal(change, err)
	}
}

// A pause that the database lost holds no running process.
func TestPauseThatIsGoneEnds(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	sink := rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	pause(t, db, func(n operate.Name, by operate.By) (operate.Change, error) {
		return operate.Pause(t.Context(), db, n, by)
	})
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, "put 2 2")))
	rig.AtOnce(t, sink)
	_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.Paused)
	idles(t, sink)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE kind = 'p'`)
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 1)
	rig.Deliver(t, sink, rig.Records(1, "put 2 2"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A pause is a state of its own for hooks and Stats, and no error in the log. The partition
// continues where it was: after as many dead letters in a row.
func TestPauseIsNoHalt(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	h, out := &rig.Heard{}, &transcript.Buffer{}
	c := rig.Service{
		Policy:  wire.FailurePolicy{StopAfter: 2},
		Options: []idem.Option{idem.WithHooks(rig.States{Heard: h, C: nil}), idem.WithLogger(slog.New(slog.NewTextHandler(out, nil)))},
	}.Consumer(t, db)
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1", "nonsense x"))
	pause(t, db, func(n operate.Name, by operate.By) (operate.Change, error) {
		return operate.Pause(t.Context(), db, n, by)
	})
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(2, "put 2 2")))
	rig.AtOnce(t, sink)
	_, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment)
	halted := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "code", halted.Code, halt.Paused)
	rig.WantText(t, halted, "test.v1/0: PAUSED: paused at ")
	rig.WantText(t, halted, " by operator ann: repair [paused; then: idemgen stream resume --consumer test --topic test.v1 --partition 0 --reason paused]")
	rig.Want(t, "state", c.Stats().Partitions[0].State, "PAUSED")
	if problems := c.Health(); len(problems) != 1 || problems[0].Code != "paused" || problems.Err() != nil {
		t.Errorf("Health: %+v", problems)
	}
	pause(t, db, func(n operate.Name, by operate.By) (operate.Change, error) {
		return operate.Resume(t.Context(), db, n, by)
	})
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 2)
	halted = rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(2, "nonsense x", "nonsense x")))
	rig.Want(t, "code", halted.Code, halt.DeadLetters)
	rig.Want(t, "halted before", halted.Offset, 3)
	if text := h.Text(); !strings.Contains(text, "FENCING to PAUSED test.v1/0: PAUSED: ") || !strings.Contains(text, "PAUSED to FENCING ") {
		t.Errorf("hooks: %s", text)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "PAUSED") && !strings.Contains(line, "level=INFO") {
			t.Errorf("log: %s", line)
		}
	}
	if strings.Count(out.String(), "state=PAUSED") != 1 {
		t.Errorf("log:\n%s", out)
	}
}
