package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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

// assignedAt gives partition 0 to a service, to which Kafka says what was committed.
func assignedAt(t testing.TB, c *idem.Consumer, committed idem.Commit) (sink idem.Sink, end func()) {
	t.Helper()
	sink, end = driveUntil(t, c)
	a := newSource(nil).assignment
	a.Committed = committing(committed)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return sink, end
}

// applied applies records of partition 0 in a service of its own, to which Kafka says what was
// committed. It returns what the service would commit.
func applied(t testing.TB, db *pgxpool.Pool, s service, committed idem.Commit, msgs []idem.Message) idem.Commit {
	t.Helper()
	c := s.consumer(t, db)
	defer c.Close()
	sink, end := assignedAt(t, c, committed)
	defer end()
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

// A database that goes back under a live process has lost the lease of a call that is under way.
// The call is repeated, with a token above its first one, or left to an operator.
func TestCallUnderADatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		terms   wire.EffectTerms
		tokens  []bool // of each call: above 500
		letters string
	}{
		"retry":       {terms, []bool{true, true}, ""},
		"dead_letter": {interrupts, []bool{true}, "0 interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			idemtest.Exec(t, db, `SELECT setval('idem_fence', 500)`)
			var p provider
			var above []bool
			p.call = func(ctx context.Context, _ int32, n int) error {
				d, _ := idem.DeliveryFrom(ctx)
				above = append(above, d.Token > 500)
				if n == 1 {
					idemtest.Exec(t, db, `DELETE FROM idem_lease`)
					idemtest.Exec(t, db, `SELECT setval('idem_fence', 1)`)
				}
				return nil
			}
			applied(t, db, p.service(tc.terms), idem.Commit{Offset: -1}, records(0, "a: effect 1"))
			want(t, "calls with a token above all before", fmt.Sprint(above), fmt.Sprint(tc.tokens))
			want(t, "letters", letters(t, db), tc.letters)
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

// Fencing tokens never go back, even if the sequence did and no lease is left that tells: by what
// Kafka keeps, also in a database that is not the one of before, and by what the process knows.
func TestTokensGrowWithoutTheirSequence(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(terms)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 5000)`)
	kafka := applied(t, db, s, applied(t, db, s, idem.Commit{Offset: -1}, records(0, "a: effect 1")), records(1, "put 9 9"))
	grows := func(db *pgxpool.Pool) {
		t.Helper()
		want(t, "the token is greater", query(t, db, `SELECT (max(fence) > 5001)::text FROM idem_lease`), "true")
	}
	empty := database(t)
	name := operate.Name{Consumer: "test", Topic: topic, TopicID: newSource(nil).assignment.TopicID.String()}
	if _, err := operate.Set(t.Context(), empty, name, operate.Target{From: halt.NoLedger, To: 2, Partitions: 4}, operate.By{Reason: "ledger-missing"}); err != nil {
		t.Fatal(err)
	}
	applied(t, empty, s, kafka, records(2, "c: effect 3"))
	grows(empty)

	const reset = `DELETE FROM idem_lease; SELECT setval('idem_fence', 1, false)`
	idemtest.Exec(t, db, reset)
	applied(t, db, s, kafka, records(2, "c: effect 3"))
	grows(db)

	c := s.consumer(t, db)
	apply(t, ownPartition(t, c, 1), records(0, "d: effect 4"))
	idemtest.Exec(t, db, reset)
	apply(t, ownPartition(t, c, 1), records(1, "e: effect 5"))
	grows(db)
	idemtest.Exec(t, db, `UPDATE idem_lease SET fence = fence + 1000000; SELECT setval('idem_fence', 1, false);
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if _, err := c.Own(t.Context(), topic, 2, 0); err != nil { // on a connection that is new
		_, err = c.Own(t.Context(), topic, 2, 0)
		do(t, func() error { return err })
	}
	want(t, "the sequence is not behind", query(t, db, `SELECT (last_value >= (SELECT max(fence) FROM idem_lease))::text FROM idem_fence`), "true")
}

// A process whose filters are of keys that the database lost reads them again.
func TestFiltersAreBuiltAgainWhenCommitsAreLost(t *testing.T) {
	t.Parallel()
	db := database(t)
	log, option := logged()
	c := service{options: []idem.Option{option}}.consumer(t, db)
	sink, end := driveUntil(t, c)
	defer end()
	assign(t, sink, 0)
	deliver(t, sink, records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3"))
	rotate(t, db, c)
	deliver(t, sink, records(3, "d: put 4 4"))
	await(t, log, "filter of sealed keys built", 1)
	a := newSource(nil).assignment
	a.Committed = committing(sink.Revoked(first))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 4; DELETE FROM idem_keys WHERE gen = 2 OR gen = 1 AND key = (SELECT key FROM idem_keys_1 ORDER BY key LIMIT 1)`)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	await(t, log, "no key is claimed until an operator has acted", 1)
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
