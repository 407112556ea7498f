package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// Calls that were recorded ahead of the position are known to be gone, although the database went
// back at the position where it was, and the partition has had another owner since.
func TestCallsAheadOfThePositionAreNotForgotten(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "put 9 9"))
	old := backup(t, db)
	p.Call = func(_ context.Context, row int32, _ int) error {
		if row == 1 {
			return idem.RetryAfter(time.Hour, errors.New("later"))
		}
		return nil
	}
	last := rig.Records(1, "a: effect 1", "b: effect 2", "c: effect 3")
	c := s.Consumer(t, db)
	sink, end := rig.DriveUntil(t, c)
	a := rig.NewSource(nil).Assignment
	a.Committed = rig.Committing(kafka)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	delivered := make(chan error)
	go func() { delivered <- sink.Deliver(t.Context(), rig.First, last) }()
	rig.Eventually(t, db, "2", `SELECT count(*)::text FROM idem_lease WHERE state = 'd'`)
	kafka = sink.Revoked(rig.First)
	if err := <-delivered; err == nil {
		t.Error("the records count as durable")
	}
	end()
	c.Close()
	rig.Want(t, "committed", kafka.Offset, 1)
	kafka = applied(t, db, s, kafka, nil) // an owner that makes no call

	p.Call = nil
	rig.Want(t, "committed afterwards", applied(t, old, s, kafka, last).Offset, 4)
	rig.Want(t, "letters", rig.Letters(t, old), "1 interrupted, 2 interrupted, 3 interrupted")
	rig.Want(t, "calls", p.Count(2)+p.Count(3), 2)
}

// A copy in another partition waits for the partition that lost the event, although that is taken
// over later, and then has the outcome of its call.
func TestCopyWaitsForThePartitionThatLostItsEvent(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	second := idem.Partition{Topic: rig.Topic, Number: 1}
	kafka := map[int32]idem.Commit{0: {Offset: -1}, 1: {Offset: -1}}
	lost := rig.Records(0, "a: effect 1")
	elsewhere := rig.Records(0, "b: effect 2", "a: effect 1", "c: effect 3")
	for i := range elsewhere {
		elsewhere[i].Partition = 1
	}
	take := func(sink idem.Sink, number int32) {
		t.Helper()
		a := rig.NewSource(nil).Assignment
		a.Partition.Number, a.Committed = number, rig.Committing(kafka[number])
		a.Others = func(context.Context) (map[int32]idem.Commit, error) { return kafka, nil }
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	run := func(records []idem.Message) {
		c := s.Consumer(t, db)
		defer c.Close()
		sink, end := rig.DriveUntil(t, c)
		defer end()
		take(sink, 0)
		take(sink, 1)
		rig.Deliver(t, sink, records)
		kafka = map[int32]idem.Commit{0: sink.Revoked(rig.First), 1: sink.Revoked(second)}
	}
	run(nil)
	old := backup(t, db)
	run(lost)

	c := s.Consumer(t, old)
	defer c.Close()
	sink, end := rig.DriveUntil(t, c)
	defer end()
	take(sink, 1)
	delivered := make(chan error, 1)
	go func() { delivered <- sink.Deliver(t.Context(), second, elsewhere) }()
	rig.Eventually(t, old, "0 to 1", `SELECT coalesce(lost_from || ' to ' || lost_to, '') FROM idem_stream WHERE partition = 0`)
	take(sink, 0)
	rig.Deliver(t, sink, lost)
	if err := <-delivered; err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "letters", rig.Letters(t, old), "0 interrupted, 1 interrupted")
	rig.Want(t, "calls", fmt.Sprint(p.Count(1), p.Count(2), p.Count(3)), "1 1 1")
}

// Rows of the ledger may be gone although no record is: log, Health and idem_stream say so. A
// replay that was requested before is not carried out a second time, until somebody requests it
// again.
func TestRowsThatAreGoneWithoutRecords(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	p.Call = func(context.Context, int32, int) error { return errors.New("the connection broke") }
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "a: effect 1", "put 9 9"))
	p.Call = nil
	rig.Ask(t, db, "replay", 0)
	old := backup(t, db)
	kafka = idleUntil(t, db, s, kafka, func(*rig.Consumer) bool { return strings.HasPrefix(rig.LettersNow(t, db), "0 r ") })
	name := operate.Name{Consumer: "test", Topic: rig.Topic, Partition: 0}
	if _, err := operate.Pause(t.Context(), db, name, operate.By{Operator: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	var halted *idem.HaltedError
	c := s.Consumer(t, db)
	sink, end := rig.DriveUntil(t, c)
	if _, err := sink.Assigned(t.Context(), rig.NewSource(nil).Assignment); !errors.As(err, &halted) {
		t.Fatal(err)
	}
	paused := sink.Durable(rig.First)
	end()
	c.Close()
	rig.Want(t, "offset that is committed of a pause", paused.Offset, kafka.Offset)
	if paused.Metadata == kafka.Metadata {
		t.Error("Kafka does not keep the pause")
	}
	mark, _ := ledger.ReadMark(paused.Offset, paused.Metadata)
	rig.Want(t, "the token in the mark of a pause", fmt.Sprint(mark.Fence), rig.Query(t, db, `SELECT last_value::text FROM idem_fence`))

	log, option := rig.Logged()
	s.Options = append(s.Options, option)
	idleUntil(t, old, s, paused, func(c *rig.Consumer) bool {
		problems := c.Health()
		if len(problems) != 1 || !strings.Contains(problems[0].Reason, "rows of the ledger at offset 2 are gone, but no records") {
			t.Errorf("Health says %v", problems)
		}
		return strings.Contains(rig.LettersNow(t, old), "request it again")
	})
	rig.Await(t, log, "rows of the ledger at offset 2 are gone", 1)
	rig.Want(t, "offsets", rig.Query(t, old, `SELECT lost_from || ' to ' || lost_to FROM idem_stream WHERE lost_at IS NOT NULL`), "2 to 2")
	rig.Want(t, "calls after the restore", p.Count(1), 2)
	rig.Ask(t, old, "replay", 0)
	idleUntil(t, old, s, paused, func(*rig.Consumer) bool { return strings.HasPrefix(rig.LettersNow(t, old), "0 r ") })
	rig.Want(t, "calls after a new request", p.Count(1), 3)
}

// idleUntil runs a service of its own without records until a condition holds, and returns what it
// would commit.
func idleUntil(t testing.TB, db *pgxpool.Pool, s rig.Service, committed idem.Commit, done func(*rig.Consumer) bool) idem.Commit {
	t.Helper()
	c := s.Consumer(t, db)
	defer c.Close()
	sink, end := assignedAt(t, c, committed)
	defer end()
	for end := time.Now().Add(time.Minute); !done(c); time.Sleep(10 * time.Millisecond) {
		if err := sink.Idle(t.Context(), rig.First, -1); err != nil || time.Now().After(end) {
			t.Fatal("it does not happen", err)
		}
	}
	return sink.Revoked(rig.First)
}

// A process that lives on knows what it applied and called, even if it has not committed that to
// Kafka yet.
func TestProcessKnowsWhatWasLost(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	log, option := rig.Logged()
	s.Options = append(s.Options, option)
	c := s.Consumer(t, db)
	sink, end := rig.DriveUntil(t, c)
	defer end()
	a := rig.NewSource(nil).Assignment
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	all := rig.Records(0, "a: effect 1", "b: effect 2", "put 9 9")
	rig.Deliver(t, sink, all[:2])
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE kind = 'b'; DELETE FROM idem_lease; DELETE FROM idem_keys; DELETE FROM t`)
	rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, all[2:]))
	rig.AtOnce(t, sink)
	if at, err := sink.Assigned(t.Context(), a); err != nil || at.Offset != 0 {
		t.Fatal(at, err)
	}
	rig.Deliver(t, sink, all)
	rig.Want(t, "letters", rig.Letters(t, db), "0 interrupted, 1 interrupted")
	rig.Want(t, "calls", p.Count(1)+p.Count(2), 2)
	rig.Await(t, log, "records up to offset 1 (at most 2)", 1)
}

// A halt says that commits are gone: they are why the position is behind the log.
func TestHaltSaysThatCommitsAreGone(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	applied(t, db, rig.Service{}, idem.Commit{Offset: -1}, rig.Records(0, "put 1 1"))
	old := backup(t, db)
	kafka := applied(t, db, rig.Service{}, idem.Commit{Offset: -1}, rig.Records(1, "put 2 2", "put 3 3"))
	src := rig.NewSource(nil)
	src.Assignment.Low, src.Assignment.Committed = 2, rig.Committing(kafka)
	halted := rig.WantError[*idem.HaltedError](t, src.Consume(t, rig.Service{}.Consumer(t, old)))
	if halted.Code != "retention-passed" || !strings.Contains(halted.Reason, "the ledger went back to offset 1, and records up to offset 2") {
		t.Errorf("it halts with %v", halted)
	}
}
