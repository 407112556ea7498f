package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// trouble are the lines of a log above Info.
func trouble(log *transcript.Buffer) []string {
	var lines []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") {
			lines = append(lines, line)
		}
	}
	return lines
}

// What an operator does to a partition at work is no trouble: the log says it at Info.
func TestOperatorsRowIsNoErrorOfAPartitionAtWork(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	sink := rig.Drive(t, rig.Service{Options: []idem.Option{option}}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "put 1 1"))
	rig.AppendRow(t, db, "s", "next + 4", "operator me: skipped")
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, "put 2 2")))
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 5)
	if lines := trouble(log); len(lines) > 0 {
		t.Errorf("%s", lines)
	}
	rig.Await(t, log, "an operator appended to the ledger", 1)
}

// A halt is an error once: neither leaving it, nor finding the same again without anybody's
// act, is one. A person who acted learns that it stands again.
func TestHaltIsLoggedOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	a := rig.NewSource(nil).Assignment
	sink := rig.Drive(t, rig.Service{Options: []idem.Option{option}, Edit: func(s *wire.Service) {
		s.Limits.BatchTimeout = 500 * time.Millisecond // Standby looks often
	}}.Consumer(t, db))
	rig.Assign(t, sink, 0)
	rig.AppendRow(t, db, "s", "next + 5", "operator me: too far, and the log begins behind it")
	halts := func(low int64, errors int) {
		t.Helper()
		a.Low = low
		_, err := sink.Assigned(t.Context(), a)
		rig.WantError[*idem.HaltedError](t, err)
		if lines := stands(log); len(lines) != errors {
			t.Errorf("%d lines, want %d: %s", len(lines), errors, lines)
		}
	}
	halts(10, 1)        // Assigned while it is assigned: the Source doubts its position
	rig.AtOnce(t, sink) // the row may be meant for this halt: nobody knows
	halts(20, 1)
	rig.AppendRow(t, db, "o", "next", "operator me: released")
	rig.AtOnce(t, sink)
	halts(30, 2)
	rig.AppendRow(t, db, "s", "30", "operator me: skipped")
	rig.AtOnce(t, sink)
	rig.Assign(t, sink, 30)
	if lines := stands(log); len(lines) != 2 {
		t.Errorf("%s", lines)
	}
}

// stands are the lines of trouble that are about a partition: on a busy machine the database may
// be slow, too.
func stands(log *transcript.Buffer) []string {
	return slices.DeleteFunc(trouble(log), func(line string) bool { return !strings.Contains(line, "partition makes no progress") })
}
