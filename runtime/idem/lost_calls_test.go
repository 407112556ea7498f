package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Calls that were recorded ahead of the position are known to be gone, although the database went
// back at the position where it was, and the partition has had another owner since.
func TestCallsAheadOfThePositionAreNotForgotten(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, records(0, "put 9 9"))
	old := backup(t, db)
	p.call = func(_ context.Context, row int32, _ int) error {
		if row == 1 {
			return idem.RetryAfter(time.Hour, errors.New("later"))
		}
		return nil
	}
	last := records(1, "a: effect 1", "b: effect 2", "c: effect 3")
	c := s.consumer(t, db)
	sink, end := driveUntil(t, c)
	a := newSource(nil).assignment
	a.Committed = committing(kafka)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	delivered := make(chan error)
	go func() { delivered <- sink.Deliver(t.Context(), first, last) }()
	eventually(t, db, "2", `SELECT count(*)::text FROM idem_lease WHERE state = 'd'`)
	kafka = sink.Revoked(first)
	if err := <-delivered; err == nil {
		t.Error("the records count as durable")
	}
	end()
	c.Close()
	want(t, "committed", kafka.Offset, 1)
	kafka = applied(t, db, s, kafka, nil) // an owner that makes no call

	p.call = nil
	want(t, "committed afterwards", applied(t, old, s, kafka, last).Offset, 4)
	want(t, "letters", letters(t, old), "1 interrupted, 2 interrupted, 3 interrupted")
	want(t, "calls", p.count(2)+p.count(3), 2)
}

// A copy in another partition waits for the partition that lost the event, although that is taken
// over later, and then has the outcome of its call.
func TestCopyWaitsForThePartitionThatLostItsEvent(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	second := idem.Partition{Topic: topic, Number: 1}
	kafka := map[int32]idem.Commit{0: {Offset: -1}, 1: {Offset: -1}}
	lost := records(0, "a: effect 1")
	elsewhere := records(0, "b: effect 2", "a: effect 1", "c: effect 3")
	for i := range elsewhere {
		elsewhere[i].Partition = 1
	}
	take := func(sink idem.Sink, number int32) {
		t.Helper()
		a := newSource(nil).assignment
		a.Partition.Number, a.Committed = number, committing(kafka[number])
		a.Others = func(context.Context) (map[int32]idem.Commit, error) { return kafka, nil }
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	run := func(records []idem.Message) {
		c := s.consumer(t, db)
		defer c.Close()
		sink, end := driveUntil(t, c)
		defer end()
		take(sink, 0)
		take(sink, 1)
		deliver(t, sink, records)
		kafka = map[int32]idem.Commit{0: sink.Revoked(first), 1: sink.Revoked(second)}
	}
	run(nil)
	old := backup(t, db)
	run(lost)

	c := s.consumer(t, old)
	defer c.Close()
	sink, end := driveUntil(t, c)
	defer end()
	take(sink, 1)
	delivered := make(chan error, 1)
	go func() { delivered <- sink.Deliver(t.Context(), second, elsewhere) }()
	eventually(t, old, "0 to 1", `SELECT coalesce(lost_from || ' to ' || lost_to, '') FROM idem_stream WHERE partition = 0`)
	take(sink, 0)
	deliver(t, sink, lost)
	if err := <-delivered; err != nil {
		t.Fatal(err)
	}
	want(t, "letters", letters(t, old), "0 interrupted, 1 interrupted")
	want(t, "calls", fmt.Sprint(p.count(1), p.count(2), p.count(3)), "1 1 1")
}

// Rows of the ledger may be gone although no record is: log, Health and idem_stream say so. A
// replay that was requested before is not carried out a second time, until somebody requests it
// again.
func TestRowsThatAreGoneWithoutRecords(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	p.call = func(context.Context, int32, int) error { return errors.New("the connection broke") }
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, records(0, "a: effect 1", "put 9 9"))
	p.call = nil
	ask(t, db, "replay", 0)
	old := backup(t, db)
	kafka = idleUntil(t, db, s, kafka, func(*idem.Consumer) bool { return strings.HasPrefix(lettersNow(t, db), "0 r ") })
	name := operate.Name{Consumer: "test", Topic: topic, Partition: 0}
	if _, err := operate.Pause(t.Context(), db, name, operate.By{Operator: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	var halted *idem.HaltedError
	c := s.consumer(t, db)
	sink, end := driveUntil(t, c)
	if _, err := sink.Assigned(t.Context(), newSource(nil).assignment); !errors.As(err, &halted) {
		t.Fatal(err)
	}
	paused := sink.Durable(first)
	end()
	c.Close()
	want(t, "offset that is committed of a pause", paused.Offset, kafka.Offset)
	if paused.Metadata == kafka.Metadata {
		t.Error("Kafka does not keep the pause")
	}

	log, option := logged()
	s.options = append(s.options, option)
	idleUntil(t, old, s, paused, func(c *idem.Consumer) bool {
		problems := c.Health()
		if len(problems) != 1 || !strings.Contains(problems[0].Reason, "rows of the ledger at offset 2 are gone, but no records") {
			t.Errorf("Health says %v", problems)
		}
		return strings.Contains(lettersNow(t, old), "request it again")
	})
	await(t, log, "rows of the ledger at offset 2 are gone", 1)
	want(t, "offsets", query(t, old, `SELECT lost_from || ' to ' || lost_to FROM idem_stream WHERE lost_at IS NOT NULL`), "2 to 2")
	want(t, "calls after the restore", p.count(1), 2)
	ask(t, old, "replay", 0)
	idleUntil(t, old, s, paused, func(*idem.Consumer) bool { return strings.HasPrefix(lettersNow(t, old), "0 r ") })
	want(t, "calls after a new request", p.count(1), 3)
}

// idleUntil runs a service of its own without records until a condition holds, and returns what it
// would commit.
func idleUntil(t testing.TB, db *pgxpool.Pool, s service, committed idem.Commit, done func(*idem.Consumer) bool) idem.Commit {
	t.Helper()
	c := s.consumer(t, db)
	defer c.Close()
	sink, end := assignedAt(t, c, committed)
	defer end()
	for end := time.Now().Add(20 * time.Second); !done(c); time.Sleep(10 * time.Millisecond) {
		if err := sink.Idle(t.Context(), first, -1); err != nil || time.Now().After(end) {
			t.Fatal("it does not happen", err)
		}
	}
	return sink.Revoked(first)
}

// A process that lives on knows what it applied and called, even if it has not committed that to
// Kafka yet.
func TestProcessKnowsWhatWasLost(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(interrupts)
	log, option := logged()
	s.options = append(s.options, option)
	c := s.consumer(t, db)
	sink, end := driveUntil(t, c)
	defer end()
	a := newSource(nil).assignment
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	all := records(0, "a: effect 1", "b: effect 2", "put 9 9")
	deliver(t, sink, all[:2])
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE kind = 'b'; DELETE FROM idem_lease; DELETE FROM idem_keys; DELETE FROM t`)
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, all[2:]))
	now(t, sink)
	if at, err := sink.Assigned(t.Context(), a); err != nil || at.Offset != 0 {
		t.Fatal(at, err)
	}
	deliver(t, sink, all)
	want(t, "letters", letters(t, db), "0 interrupted, 1 interrupted")
	want(t, "calls", p.count(1)+p.count(2), 2)
	await(t, log, "records up to offset 1 (at most 2)", 1)
}

// A halt says that commits are gone: they are why the position is behind the log.
func TestHaltSaysThatCommitsAreGone(t *testing.T) {
	t.Parallel()
	db := database(t)
	applied(t, db, service{}, idem.Commit{Offset: -1}, records(0, "put 1 1"))
	old := backup(t, db)
	kafka := applied(t, db, service{}, idem.Commit{Offset: -1}, records(1, "put 2 2", "put 3 3"))
	src := newSource(nil)
	src.assignment.Low, src.assignment.Committed = 2, committing(kafka)
	halted := wantError[*idem.HaltedError](t, src.run(t, service{}.consumer(t, old)))
	if halted.Code != "retention-passed" || !strings.Contains(halted.Reason, "the ledger went back to offset 1, and records up to offset 2") {
		t.Errorf("it halts with %v", halted)
	}
}
