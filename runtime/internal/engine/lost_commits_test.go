package engine_test

import (
	"context"
	"crypto/rand"
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
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// backup returns a copy of a database that nobody uses.
func backup(t testing.TB, db *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	name := db.Config().ConnConfig.Database + "_" + strings.ToLower(rand.Text()[:6])
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
func assignedAt(t testing.TB, c *rig.Consumer, committed idem.Commit) (sink idem.Sink, end func()) {
	t.Helper()
	sink, end = rig.DriveUntil(t, c)
	a := rig.NewSource(nil).Assignment
	a.Committed = rig.Committing(committed)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return sink, end
}

// applied applies records of partition 0 in a service of its own, to which Kafka says what was
// committed. It returns what the service would commit.
func applied(t testing.TB, db *pgxpool.Pool, s rig.Service, committed idem.Commit, msgs []idem.Message) idem.Commit {
	t.Helper()
	c := s.Consumer(t, db)
	defer c.Close()
	sink, end := assignedAt(t, c, committed)
	defer end()
	rig.Deliver(t, sink, msgs)
	return sink.Revoked(rig.First)
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
		"retry":       {rig.Terms, 2, ""},
		"dead_letter": {rig.Interrupts, 1, "3 interrupted, 4 interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var p rig.Provider
			s := p.Service(tc.terms)
			applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "a: effect 1", "b: effect 2"))
			old := backup(t, db)
			last := rig.Records(2, "put 9 9", "c: effect 3", "d: effect 4")
			kafka := applied(t, db, s, idem.Commit{Offset: -1}, last)
			rig.Want(t, "committed", kafka.Offset, 5)

			for round := range 2 { // the second owner finds the same in Kafka: the first did not live to commit
				c := s.Consumer(t, old)
				sink, end := rig.DriveUntil(t, c)
				a := rig.NewSource(nil).Assignment
				a.Committed = rig.Committing(kafka)
				at, err := sink.Assigned(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				rig.Want(t, "position", at.Offset, int64(2+round))
				rig.Want(t, "found", c.Stats().WentBack, int64(1-round))
				problems := c.Health()
				if len(problems) != 1 || problems[0].Code != "lost-commits" || !strings.Contains(problems[0].Reason, "back to offset 2") {
					t.Errorf("Health says %v", problems)
				}
				rig.Deliver(t, sink, last[round:1+2*round])
				if round == 1 {
					rig.Want(t, "problems at the end", len(c.Health()), 0)
				}
				end()
				c.Close()
			}
			for row := int32(1); row <= 4; row++ {
				n := 1
				if row > 2 {
					n = tc.calls
				}
				rig.Want(t, fmt.Sprint("calls of row ", row), p.Count(row), n)
			}
			rig.Want(t, "letters", rig.Letters(t, old), tc.letters)
			rig.Want(t, "offsets", rig.Query(t, old, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "2 to 5")
			rig.Want(t, "fence that says it", rig.Query(t, old, `SELECT count(*)::text FROM idem_ledger WHERE kind = 'f' AND info LIKE '%the database lost commits%'`), "1")
			rig.Want(t, "tokens that leap", rig.Query(t, old, `SELECT count(*)::text FROM idem_lease WHERE fence > 1000000000`), "2")

			if tc.letters != "" {
				rig.Ask(t, old, "replay", 3)
				applied(t, old, s, kafka, nil)
				rig.Want(t, "calls after a replay", p.Count(3), 2)
			}
		})
	}
}

// Tokens also grow if the database goes back several times before anything is committed to Kafka:
// what was drawn between the restores is known to nobody.
func TestTokensGrowOverRestores(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "a: effect 1"))
	copies := []*pgxpool.Pool{backup(t, db), backup(t, db), backup(t, db)}
	last := rig.Records(1, "b: effect 2")
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, last)
	before := rig.Query(t, db, `SELECT max(fence)::text FROM idem_lease`)
	applied(t, copies[2], s, kafka, nil) // its sequence is past the mark, and behind what the others draw
	for i, old := range copies {
		applied(t, old, s, kafka, last)
		drawn := rig.Query(t, old, `SELECT max(fence)::text FROM idem_lease`)
		if len(drawn) < len(before) || len(drawn) == len(before) && drawn <= before {
			t.Errorf("restore %d: token %s after %s", i+1, drawn, before)
		}
		before = drawn
	}
	rig.Want(t, "calls", p.Count(2), 4)
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
		"retry":       {rig.Terms, []bool{true, true}, ""},
		"dead_letter": {rig.Interrupts, []bool{true}, "0 interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			idemtest.Exec(t, db, `SELECT setval('idem_fence', 500)`)
			var p rig.Provider
			var above []bool
			p.Call = func(ctx context.Context, _ int32, n int) error {
				d, _ := idem.DeliveryFrom(ctx)
				above = append(above, d.Token > 500)
				if n == 1 {
					idemtest.Exec(t, db, `DELETE FROM idem_lease`)
					idemtest.Exec(t, db, `SELECT setval('idem_fence', 1)`)
				}
				return nil
			}
			applied(t, db, p.Service(tc.terms), idem.Commit{Offset: -1}, rig.Records(0, "a: effect 1"))
			rig.Want(t, "calls with a token above all before", fmt.Sprint(above), fmt.Sprint(tc.tokens))
			rig.Want(t, "letters", rig.Letters(t, db), tc.letters)
		})
	}
}

// The database may also go back under an owner that has drawn no token yet: its first one is above
// those that were drawn for the same events before the take-over.
func TestFirstTokenUnderADatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 500)`)
	w := rig.Own(t, s.Consumer(t, db))
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 1)`)
	rig.Apply(t, w, rig.Records(0, "a: effect 1"))
	rig.Want(t, "a token above all before", rig.Query(t, db, `SELECT (max(fence) > 500)::text FROM idem_lease`), "true")
}

// Leases outside of the database did not go back with it: their tokens are greater than those that
// the database draws then. An operator's decision about one of them counts nevertheless.
func TestReplayAfterTheDatabaseWentBack(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	var store memlease.Store
	s := p.ServiceWith(&store, rig.Interrupts)
	applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "put 1 1"))
	old := backup(t, db)
	idemtest.Exec(t, db, `SELECT max(nextval('idem_fence')) FROM generate_series(1, 500)`)
	p.Call = func(context.Context, int32, int) error { return errors.New("the connection broke") }
	last := rig.Records(1, "a: effect 2")
	kafka := applied(t, db, s, idem.Commit{Offset: -1}, last)
	rig.Want(t, "letters", rig.Letters(t, db), "1 interrupted")

	p.Call = nil
	applied(t, old, s, kafka, last)
	rig.Want(t, "letters of the restored database", rig.Letters(t, old), "1 interrupted")
	rig.Want(t, "calls", p.Count(2), 1)
	rig.Ask(t, old, "replay", 1)
	rig.Within(t, "the letter is replayed", func() bool { // a busy process may lose the partition before
		applied(t, old, s, kafka, nil)
		return rig.Table(t, old) == "1=1 2=2"
	})
	rig.Want(t, "calls after the replay", p.Count(2), 2)
	rig.Want(t, "rows", rig.Table(t, old), "1=1 2=2")
}

// Fencing tokens never go back, even if the sequence did and no lease is left that tells: by what
// Kafka keeps, also in a database that is not the one of before, and by what the process knows.
func TestTokensGrowWithoutTheirSequence(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Terms)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 5000)`)
	kafka := applied(t, db, s, applied(t, db, s, idem.Commit{Offset: -1}, rig.Records(0, "a: effect 1")), rig.Records(1, "put 9 9"))
	grows := func(db *pgxpool.Pool) {
		t.Helper()
		rig.Want(t, "the token is greater", rig.Query(t, db, `SELECT (max(fence) > 5001)::text FROM idem_lease`), "true")
	}
	empty := rig.Database(t)
	name := operate.Name{Consumer: "test", Topic: rig.Topic, TopicID: rig.NewSource(nil).Assignment.TopicID.String()}
	if _, err := operate.Set(t.Context(), empty, name, operate.Target{From: halt.NoLedger, To: 2, Partitions: 4}, operate.By{Reason: "ledger-missing"}); err != nil {
		t.Fatal(err)
	}
	applied(t, empty, s, kafka, rig.Records(2, "c: effect 3"))
	grows(empty)

	const reset = `DELETE FROM idem_lease; SELECT setval('idem_fence', 1, false)`
	idemtest.Exec(t, db, reset)
	applied(t, db, s, kafka, rig.Records(2, "c: effect 3"))
	grows(db)

	c := s.Consumer(t, db)
	rig.Apply(t, rig.OwnPartition(t, c, 1), rig.Records(0, "d: effect 4"))
	idemtest.Exec(t, db, reset)
	rig.Apply(t, rig.OwnPartition(t, c, 1), rig.Records(1, "e: effect 5"))
	grows(db)
	idemtest.Exec(t, db, `UPDATE idem_lease SET fence = fence + 1000000; SELECT setval('idem_fence', 1, false);
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if _, err := c.Own(t.Context(), rig.Topic, 2, 0); err != nil { // on a connection that is new
		_, err = c.Own(t.Context(), rig.Topic, 2, 0)
		rig.Do(t, func() error { return err })
	}
	rig.Want(t, "the sequence is not behind", rig.Query(t, db, `SELECT (last_value >= (SELECT max(fence) FROM idem_lease))::text FROM idem_fence`), "true")
}

// A process whose filters are of keys that the database lost reads them again.
func TestFiltersAreBuiltAgainWhenCommitsAreLost(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}}.Consumer(t, db)
	sink, end := rig.DriveUntil(t, c)
	defer end()
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, "a: put 1 1", "b: put 2 2", "c: put 3 3"))
	rig.Rotate(t, db, c)
	rig.Deliver(t, sink, rig.Records(3, "d: put 4 4"))
	rig.Await(t, log, "filter of sealed keys built", 1)
	a := rig.NewSource(nil).Assignment
	a.Committed = rig.Committing(sink.Revoked(rig.First))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE next = 4; DELETE FROM idem_keys WHERE gen = 2 OR gen = 1 AND key = (SELECT key FROM idem_keys_1 ORDER BY key LIMIT 1)`)
	if _, err := sink.Assigned(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, log, "no key is claimed until an operator has acted", 1)
}

// Kafka says nothing about commits that are gone if an operator set the position back, if another
// client committed, or if the ledger is another one.
func TestDatabaseThatDidNotGoBack(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	kafka := applied(t, db, rig.Service{}, idem.Commit{Offset: -1}, rig.Records(0, "put 1 1", "put 2 2", "put 3 3"))
	name := operate.Name{Consumer: "test", Topic: rig.Topic, Partition: 0}
	if _, err := operate.Set(t.Context(), db, name, operate.Target{From: halt.Anywhere, To: 1, ApplyAgain: true}, operate.By{Operator: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]idem.Commit{
		"an operator's row":         kafka,
		"another client's metadata": {Offset: 3, Metadata: "mine"},
		"no metadata":               {Offset: 3},
		"another database's ledger": {Offset: 3, Metadata: ledger.Mark{Stream: idem.UUID{1}, Seq: 9, Token: idem.UUID{2}, High: 3}.String()},
	} {
		applied(t, db, rig.Service{}, c, nil)
		if rig.Query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`) != "true" {
			t.Errorf("%s counts as commits that are gone", name)
		}
	}
	// The row of the mark is trimmed, then the operator's.
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq < (SELECT seq FROM idem_ledger WHERE kind = 'r')`)
	applied(t, db, rig.Service{}, kafka, nil)
	rig.Want(t, "found behind the operator's row", rig.Query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`), "true")
	idemtest.Exec(t, db, `WITH gone AS (DELETE FROM idem_ledger WHERE seq < (SELECT max(seq) FROM idem_ledger) RETURNING *)
INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info) SELECT stream, seq, kind, prev, next, written_at, info FROM gone WHERE kind = 'r'`)
	applied(t, db, rig.Service{}, kafka, nil)
	rig.Want(t, "found", rig.Query(t, db, `SELECT (lost_at IS NULL)::text FROM idem_stream`), "true")
	// The position was never that far before the operator set it back.
	further := kafka
	further.Offset = 4
	applied(t, db, rig.Service{}, further, nil)
	rig.Want(t, "found of another course", rig.Query(t, db, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "1 to 4")
	idemtest.Exec(t, db, `UPDATE idem_stream SET lost_at = NULL, lost_from = NULL, lost_to = NULL; DELETE FROM idem_operator`)
	applied(t, db, rig.Service{}, kafka, nil)
	rig.Want(t, "found without the operator's row", rig.Query(t, db, `SELECT lost_from || ' to ' || lost_to FROM idem_stream`), "1 to 3")
}

// A database that never saw the partition is not the one that the group's offset is of, if this
// service committed it: start_from: committed takes over from other programs only.
func TestOffsetOfAnotherDatabaseIsNotTakenOver(t *testing.T) {
	t.Parallel()
	s := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Committed }}
	kafka := applied(t, rig.Database(t), s, idem.Commit{Offset: -1}, rig.Records(0, "put 1 1", "put 2 2"))
	empty := rig.Database(t)
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Assignment.Committed = rig.Committing(kafka)
	halted := rig.WantError[*idem.HaltedError](t, src.Consume(t, s.Consumer(t, empty)))
	if halted.Code != "ledger-missing" || !strings.Contains(halted.Reason, "consumer test committed it") {
		t.Errorf("it halts with %v", halted)
	}
	kafka.Metadata = "another program's"
	rig.Want(t, "committed", applied(t, empty, s, kafka, rig.Records(2, "put 3 3")).Offset, 3)
	rig.Want(t, "rows", rig.Table(t, empty), "3=3")
}
