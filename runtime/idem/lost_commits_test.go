package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// backup returns a copy of a database that nobody uses.
func backup(t testing.TB, db *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	name := db.Config().ConnConfig.Database + "_copy"
	db.Reset()
	idemtest.Exec(t, db, `CREATE DATABASE `+name+` TEMPLATE `+db.Config().ConnConfig.Database)
	cfg := db.Config()
	cfg.ConnConfig.Database = name
	other, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		other.Close()
		if _, err := db.Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	return other
}

// applied applies records of partition 0 in a service of its own, to which Kafka says what was
// committed. It returns what the service would commit.
func applied(t testing.TB, db *pgxpool.Pool, s service, committed idem.Commit, msgs []idem.Message) idem.Commit {
	t.Helper()
	c := s.consumer(t, db)
	defer c.Close()
	sink, end := driveUntil(t, c)
	defer end()
	a := newSource(nil).assignment
	a.Committed = committing(committed)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	deliver(t, sink, msgs)
	return sink.Revoked(first)
}

// A restored database is behind what Kafka says was committed for it. Rows are applied again, and
// each effect whose call may have been made goes by if_interrupted, with a token above all that
// may have been in use. Health and the ledger say which records that are.
func TestDatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		terms   wire.EffectTerms
		calls   int
		letters string
	}{
		"retry":       {terms, 2, ""},
		"dead_letter": {interrupts, 1, "3 interrupted, 4 interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			var p provider
			s := p.service(tc.terms)
			applied(t, db, s, idem.Commit{Offset: -1}, records(0, "a: effect 1", "b: effect 2"))
			old := backup(t, db)
			last := records(2, "put 9 9", "c: effect 3", "d: effect 4")
			kafka := applied(t, db, s, idem.Commit{Offset: -1}, last)
			want(t, "committed", kafka.Offset, 5)

			for round := range 2 { // the second owner finds the same in Kafka: the first did not live to commit
				c := s.consumer(t, old)
				sink, end := driveUntil(t, c)
				a := newSource(nil).assignment
				a.Committed = committing(kafka)
				at, err := sink.Assigned(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				want(t, "position", at.Offset, int64(2+round))
				want(t, "found", c.Stats().WentBack, int64(1-round))
				problems := c.Health()
				if len(problems) != 1 || problems[0].Code != "lost-commits" || !strings.Contains(problems[0].Reason, "back to offset 2") {
					t.Errorf("Health says %v", problems)
				}
				deliver(t, sink, last[round:1+2*round])
				if round == 1 {
					want(t, "problems at the end", len(c.Health()), 0)
				}
				end()
				c.Close()
			}
			for row := int32(1); row <= 4; row++ {
				n := 1
				if row > 2 {
					n = tc.calls
				}
				want(t, fmt.Sprint("calls of row ", row), p.count(row), n)
			}
			want(t, "letters", letters(t, old), tc.letters)
			want(t, "offsets", query(t, old, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "2 to 5")
			want(t, "fence that says it", query(t, old, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'f' AND info LIKE '%the database lost commits%'`), "1")
			want(t, "tokens that leap", query(t, old, `SELECT count(*)::text FROM idem_lease WHERE fence > 1000000000`), "2")

			if tc.letters != "" {
				ask(t, old, "replay", 3)
				applied(t, old, s, kafka, nil)
				want(t, "calls after a replay", p.count(3), 2)
			}
		})
	}
}

// Leases outside of the database did not go back with it: their tokens are greater than those that
// the database draws then. An operator's decision about one of them counts nevertheless.
func TestReplayAfterTheDatabaseWentBack(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	var store memlease.Store
	s := p.serviceWith(&store, interrupts)
	applied(t, db, s, idem.Commit{Offset: -1}, records(0, "put 1 1"))
	old := backup(t, db)
	idemtest.Exec(t, db, `SELECT max(nextval('idem_fence')) FROM generate_series(1, 500)`)
	p.call = func(context.Context, int32, int) error { return errors.New("the connection broke") }
	last := records(1, "a: effect 2")
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, last)
	want(t, "letters", letters(t, db), "1 interrupted")

	p.call = nil
	applied(t, old, s, kafka, last)
	want(t, "letters of the restored database", letters(t, old), "1 interrupted")
	want(t, "calls", p.count(2), 1)
	ask(t, old, "replay", 1)
	applied(t, old, s, kafka, nil)
	want(t, "calls after the replay", p.count(2), 2)
	want(t, "rows", table(t, old), "1=1 2=2")
}

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
	sink, end := driveUntil(t, c)
	defer end()
	a := newSource(nil).assignment
	a.Committed = committing(committed)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
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

// Kafka says nothing about commits that are gone if an operator set the position back, if another
// client committed, or if the ledger is another one.
func TestDatabaseThatDidNotGoBack(t *testing.T) {
	t.Parallel()
	db := database(t)
	kafka := applied(t, db, service{}, idem.Commit{Offset: -1}, records(0, "put 1 1", "put 2 2", "put 3 3"))
	name := operate.Name{Consumer: "test", Topic: topic, Partition: 0}
	if _, err := operate.Set(t.Context(), db, name, operate.Target{From: halt.Anywhere, To: 1, ApplyAgain: true}, operate.By{Operator: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]idem.Commit{
		"an operator's row":         kafka,
		"another client's metadata": {Offset: 3, Metadata: "mine"},
		"no metadata":               {Offset: 3},
		"another database's ledger": {Offset: 3, Metadata: ledger.Mark{Stream: idem.UUID{1}, Seq: 9, Token: idem.UUID{2}, High: 3}.String()},
	} {
		applied(t, db, service{}, c, nil)
		if query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`) != "true" {
			t.Errorf("%s counts as commits that are gone", name)
		}
	}
	// The row of the mark is trimmed, then the operator's.
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < (SELECT seq FROM idem_ledger WHERE kind = 'r')`)
	applied(t, db, service{}, kafka, nil)
	want(t, "found behind the operator's row", query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`), "true")
	idemtest.Exec(t, db, `WITH gone AS (DELETE FROM idem_ledger WHERE seq < (SELECT max(seq) FROM idem_ledger) RETURNING *)
INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info) SELECT stream, seq, kind, prev, next, written_at, info FROM gone WHERE kind = 'r'`)
	applied(t, db, service{}, kafka, nil)
	want(t, "found", query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`), "true")
	// The position was never that far before the operator set it back.
	further := kafka
	further.Offset = 4
	applied(t, db, service{}, further, nil)
	want(t, "found of another course", query(t, db, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "1 to 4")
	idemtest.Exec(t, db, `UPDATE idem_stream SET lost_at = NULL, lost_from = NULL, lost_to = NULL; DELETE FROM idem_operator`)
	applied(t, db, service{}, kafka, nil)
	want(t, "found without the operator's row", query(t, db, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "1 to 3")
}

// A database that never saw the partition is not the one that the group's offset is of, if this
// service committed it: start_from: committed takes over from other programs only.
func TestOffsetOfAnotherDatabaseIsNotTakenOver(t *testing.T) {
	t.Parallel()
	s := service{edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Committed }}
	kafka := applied(t, database(t), s, idem.Commit{Offset: -1}, records(0, "put 1 1", "put 2 2"))
	empty := database(t)
	src := newSource(records(0, "put 1 1"))
	src.assignment.Committed = committing(kafka)
	halted := wantError[*idem.HaltedError](t, src.run(t, s.consumer(t, empty)))
	if halted.Code != "ledger-missing" || !strings.Contains(halted.Reason, "consumer test committed it") {
		t.Errorf("it halts with %v", halted)
	}
	kafka.Metadata = "another program's"
	want(t, "committed", applied(t, empty, s, kafka, records(2, "put 3 3")).Offset, 3)
	want(t, "rows", table(t, empty), "3=3")
}
