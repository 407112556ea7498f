package engine_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A service that was moved to another cluster and back halts: what it applied there may have been
// copied back, to offsets that the ledger of the first topic does not know. The command leads to
// the group's translated offset.
func TestTopicThatWasMovedToAnotherClusterAndBack(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	read := func(id byte, committed int64, batch []idem.Message) error {
		s := rig.NewSource(batch)
		s.Assignment.TopicID, s.Assignment.Committed = idem.UUID{id}, rig.CommittedAt(committed)
		return s.Consume(t, rig.Service{}.Consumer(t, db))
	}
	set := func(id byte, from, to int64) {
		t.Helper()
		n := operate.Name{Consumer: "test", Topic: rig.Topic, TopicID: idem.UUID{id}.String()}
		if _, err := operate.Set(t.Context(), db, n, operate.Target{From: from, To: to, Partitions: 4}, operate.By{Reason: "topic-recreated"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(1, -1, rig.Records(0, "add 1 1")); err != nil {
		t.Fatal(err)
	}
	set(2, halt.NoLedger, 1) // the copy has the record, and gets another one
	if err := read(2, 1, rig.Records(1, "add 2 2")); err != nil {
		t.Fatal(err)
	}
	err := read(1, 2, rig.Records(1, "add 2 2", "add 3 3")) // which was copied back
	halted, is := errors.AsType[*idem.HaltedError](err)
	if !is || halted.Code != halt.TopicRecreated || !strings.Contains(err.Error(), "--from 1 --topic-id "+idem.UUID{1}.String()+" --to 2") {
		t.Fatalf("got %v", err)
	}
	err = read(1, 1001, nil) // which is of another log: this one ends at 1000
	halted, is = errors.AsType[*idem.HaltedError](err)
	if !is || len(halted.Ways) != 1 || halted.Ways[0].Move.To != 1 {
		t.Fatalf("got %v", err)
	}
	set(1, 1, 2)
	if err := read(1, 2, rig.Records(2, "add 3 3")); err != nil {
		t.Fatal(err)
	}
	if err := read(1, 3, rig.Records(3, "add 4 4")); err != nil { // as after any restart
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4")
}

// The printed commands end the halts of a partition without a record, and even if the database's
// clock was ahead while the former topic was read.
func TestTopicThatWasMovedBackWithoutARecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	read := func(id byte, batch ...idem.Message) error {
		s := rig.NewSource(batch)
		s.Assignment.TopicID, s.Assignment.Committed = idem.UUID{id}, rig.CommittedAt(-1)
		return s.Consume(t, rig.Service{}.Consumer(t, db))
	}
	set := func(id byte, from int64) {
		t.Helper()
		n := operate.Name{Consumer: "test", Topic: rig.Topic, TopicID: idem.UUID{id}.String()}
		if _, err := operate.Set(t.Context(), db, n, operate.Target{From: from, Partitions: 4}, operate.By{Reason: "topic-recreated"}); err != nil {
			t.Error(err)
		}
	}
	rig.Do(t, func() error { return read(1) })
	idemtest.Exec(t, db, `UPDATE idem_ledger SET written_at = written_at + interval '2 hours'`)
	set(2, halt.NoLedger)
	rig.Do(t, func() error { return read(2) })
	rig.WantError[*idem.HaltedError](t, read(1))
	set(1, 0)
	rig.Do(t, func() error { return read(1, rig.Records(0, "add 1 1")...) })
	rig.Do(t, func() error { return read(1, rig.Records(1, "add 2 2")...) })
	rig.WantError[*idem.HaltedError](t, read(2))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A service that takes over a group says if the group has no offset, and if another program has
// committed more than was applied here; not in its own course.
func TestTakeOverOfAGroupSaysWhatIsOdd(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	for _, c := range []struct {
		from      wire.StartFrom
		committed int64
		want      string
	}{
		{wire.Committed, -1, "the group has no committed offset of a partition"},
		{wire.Committed, -1, ""}, // it has a ledger by now
		{wire.Committed, 0, ""},
		{wire.Committed, 7, "the group has committed more than was applied here"},
		{wire.Earliest, 7, "another program consumes in this group, or has set its offsets"},
	} {
		var log bytes.Buffer
		s := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].StartFrom = c.from }, Options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))}}
		src := rig.NewSource(nil)
		src.Assignment.Committed = rig.CommittedAt(c.committed)
		if err := s.Consumer(t, db).Run(t.Context(), src); !errors.Is(err, rig.ErrDone) {
			t.Fatal(err)
		}
		if got := log.String(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v, committed %d: the log has %q, want %q", c.from, c.committed, got, c.want)
		}
	}
}
