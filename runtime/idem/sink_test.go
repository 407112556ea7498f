package idem_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// source is a Source without a broker: it assigns partition 0, delivers one batch, and ends.
type source struct {
	assignment idem.Assignment
	batch      []idem.Message
	position   idem.Position
	then       func(ctx context.Context, sink idem.Sink) // instead of ending
}

// hasty makes an owner count as gone soon.
func hasty(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond }

func newSource(batch []idem.Message) *source {
	return &source{batch: batch, assignment: idem.Assignment{
		Partition: idem.Partition{Topic: topic}, TopicID: idem.UUID{1}, Partitions: 4, Low: 0, High: 1000, Committed: committedAt(-1),
	}}
}

// committedAt is a group whose committed offset is known.
func committedAt(offset int64) func(context.Context) (idem.Commit, error) {
	return committing(idem.Commit{Offset: offset})
}

func committing(c idem.Commit) func(context.Context) (idem.Commit, error) {
	return func(context.Context) (idem.Commit, error) { return c, nil }
}

var errDone = errors.New("delivered")

func (s *source) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	var err error
	if s.position, err = sink.Assigned(ctx, s.assignment); err != nil {
		return err
	}
	if err := sink.Deliver(ctx, s.assignment.Partition, s.batch); err != nil {
		return err
	}
	if s.then != nil {
		s.then(ctx, sink)
	}
	sink.Revoked(s.assignment.Partition)
	return errDone
}

// run returns the error that ended the source before its batch was durable.
func (s *source) run(t testing.TB, c *idem.Consumer) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := c.Run(ctx, s)
	if errors.Is(err, errDone) {
		return nil
	}
	if err == nil {
		t.Fatal("the batch was not durable in 30 s")
	}
	return err
}

func TestSourceIsToldWhereToRead(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	src := newSource(records(0, "put 1 1", "put 2 2"))
	src.then = func(_ context.Context, sink idem.Sink) {
		want(t, "durable", sink.Durable(src.assignment.Partition).Offset, 2)
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "first position", src.position.Offset, 0)
	src = newSource(records(1, "put 2 9", "put 3 3"))
	src.assignment.Committed = committedAt(1) // an old hint: the ledger decides
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "second position", src.position.Offset, 2)
	want(t, "rows", table(t, db), "1=1 2=2 3=3")
	want(t, "redelivered", c.Stats().Redelivered, 1)
}

// Only what the group has committed says whether the database lost commits: until it is known, no
// partition is taken over.
func TestPartitionIsNotTakenOverBeforeTheGroupsOffsetIsKnown(t *testing.T) {
	t.Parallel()
	sink := drive(t, service{}.consumer(t, database(t)))
	a := newSource(nil).assignment
	settling := errors.New("the group settles")
	for range 2 {
		a.Committed = func(context.Context) (idem.Commit, error) { return idem.Commit{}, settling }
		if _, err := sink.Assigned(t.Context(), a); !errors.Is(err, settling) {
			t.Fatalf("the partition was taken over with the error %v", err)
		}
		a.Committed = committedAt(-1)
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// The start of a partition is fixed before its first record: records that came while no
// owner lived are not lost to start_from: latest.
func TestStartIsFixedBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Latest }}.consumer(t, db)
	src := newSource(nil)
	src.assignment.High = 5
	if err := src.run(t, c); err != nil { // it ends without a record
		t.Fatal(err)
	}
	src = newSource(records(5, "put 5 5", "put 6 6", "put 7 7"))
	src.assignment.High = 8
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "position", src.position.Offset, 5)
	want(t, "rows", table(t, db), "5=5 6=6 7=7")
}

// sourceFunc is a Source of one function.
type sourceFunc func(ctx context.Context, sink idem.Sink) error

func (f sourceFunc) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	return f(ctx, sink)
}

// A partition that is given up before it has a ledger must leave no committed offset: the next
// owner would find one without the other and halt.
func TestNothingIsDurableWhileAPartitionIsTakenOver(t *testing.T) {
	t.Parallel()
	db := database(t)
	a := newSource(nil).assignment
	var waiting, ready int64
	err := service{}.consumer(t, db).Run(t.Context(), sourceFunc(func(ctx context.Context, sink idem.Sink) error {
		lock, err := db.Begin(ctx)
		if err != nil {
			return err
		}
		defer lock.Rollback(ctx)
		if _, err := lock.Exec(ctx, `LOCK TABLE idem_ledger`); err != nil {
			return err
		}
		taken := make(chan error, 1)
		go func() {
			_, err := sink.Assigned(ctx, a)
			taken <- err
		}()
		eventually(t, db, "true", `SELECT (count(*) > 0)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND wait_event_type = 'Lock' AND datname = current_database()`)
		waiting = sink.Durable(a.Partition).Offset
		if err := lock.Rollback(ctx); err != nil {
			return err
		}
		if err := <-taken; err != nil {
			return err
		}
		ready = sink.Durable(a.Partition).Offset
		sink.Revoked(a.Partition)
		return errDone
	}))
	if !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	want(t, "durable while it waits", waiting, -1)
	want(t, "durable when it is taken over", ready, 0)
}

func TestPartitionThatCannotBeReadHalts(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*idem.Assignment){
		"topic made again":    func(a *idem.Assignment) { a.TopicID = idem.UUID{2} },
		"retention overtook":  func(a *idem.Assignment) { a.Low = 5 },
		"other partition has": func(a *idem.Assignment) { a.Partition.Number, a.Committed = 3, committedAt(10) },
	} {
		t.Run(name, func(t *testing.T) {
			db := database(t)
			c := service{}.consumer(t, db)
			if err := newSource(records(0, "put 1 1")).run(t, c); err != nil {
				t.Fatal(err)
			}
			src := newSource(records(1, "put 2 2"))
			edit(&src.assignment)
			wantError[*idem.HaltedError](t, src.run(t, c))
			wantError[*idem.HaltedError](t, c.Health().Err())
			want(t, "rows", table(t, db), "1=1")
		})
	}
}

// Who resets a database beside a broker that was kept is told both ways on, and what each does.
func TestMissingLedgerHasTwoWaysOut(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	src := newSource(records(10, "put 1 1"))
	src.assignment.Low, src.assignment.Committed = 5, committedAt(10)
	halted := wantError[*idem.HaltedError](t, src.run(t, c))
	adopt := "idemgen stream set --consumer test --topic " + topic + " --partition 0 --from none --topic-id " + src.assignment.TopicID.String()
	want(t, "the way that skips", halted.Ways[0].String(), adopt+" --to 10 --partitions 4 --reason ledger-missing")
	want(t, "the way that reads again", halted.Ways[1].String(), adopt+" --to 5 --partitions 4 --reason ledger-missing")
	_, told, _ := strings.Cut(c.Health().Err().Error(), " [ledger-missing; then: ")
	want(t, "what Health tells", told, halted.Ways[0].String()+"] [with it "+halt.Skips+"] [or: "+halted.Ways[1].String()+"] [with it "+halt.Rereads+"]")
	src.assignment.Low = 10
	halted = wantError[*idem.HaltedError](t, src.run(t, service{}.consumer(t, db)))
	want(t, "ways of a topic that has nothing to skip", len(halted.Ways), 1)
}

// A topic that was copied to another cluster has another id and other offsets. Both ways on are
// told: the group's offset there, which the tool that copied it translated, and the first record.
func TestTopicWithAnotherIDHasTwoWaysOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		committed   int64
		skips, read string // offsets in the commands; "" for none
	}{
		"translated offset":     {7, "7", "5"},
		"nothing to skip":       {5, "5", ""},
		"none":                  {-1, "5", ""},
		"offset of another log": {1001, "5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := database(t)
			c := service{}.consumer(t, db)
			if err := newSource(records(0, "put 1 1")).run(t, c); err != nil {
				t.Fatal(err)
			}
			src := newSource(records(7, "put 2 2"))
			a := &src.assignment
			a.TopicID, a.Low, a.Committed = idem.UUID{2}, 5, committedAt(tc.committed)
			halted := wantError[*idem.HaltedError](t, src.run(t, c))
			want(t, "code", halted.Code, halt.TopicRecreated)
			adopt := "idemgen stream set --consumer test --topic " + topic + " --partition 0 --from none --topic-id " + a.TopicID.String() + " --to "
			const end = " --partitions 4 --reason topic-recreated"
			ways := ""
			for _, to := range strings.Fields(tc.skips + " " + tc.read) {
				ways += adopt + to + end + "\n"
			}
			said := ""
			for _, w := range halted.Ways {
				said += w.String() + "\n"
			}
			want(t, "ways", said, ways)
		})
	}
}

func TestLogShorterThanThePositionMayLagThenHalts(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	if err := newSource(records(0, "put 1 1", "put 2 2")).run(t, c); err != nil {
		t.Fatal(err)
	}
	src := newSource(nil)
	src.assignment.High = 1
	err := src.run(t, c)
	if err == nil || errors.As(err, new(*idem.HaltedError)) {
		t.Errorf("at first: got %v, want an error that may pass", err)
	}
}

func TestOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	db := database(t)
	c := service{}.consumer(t, db)
	var broken atomic.Bool
	src := newSource(records(0, "put 1 1"))
	src.then = func(ctx context.Context, sink idem.Sink) {
		broken.Store(true)
		go func() {
			for broken.Load() {
				_, _ = db.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
			}
		}()
		time.AfterFunc(300*time.Millisecond, func() { broken.Store(false) })
		for i := int64(1); i < 40; i++ {
			if err := sink.Deliver(ctx, src.assignment.Partition, records(i, "put 1 1", "put 2 2")[:1]); err != nil {
				t.Error(err)
			}
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "position", query(t, db, `SELECT max(next)::text FROM idem_ledger`), "40")
	want(t, "applied", c.Stats().Applied, 40)
}

func TestFencedPartitionIsGivenBack(t *testing.T) {
	lengthy(t)
	db := database(t)
	c := service{edit: hasty}.consumer(t, db)
	src := newSource(records(0, "put 1 1"))
	src.then = func(ctx context.Context, sink idem.Sink) {
		other := service{}.consumer(t, db)
		if _, err := other.Own(ctx, topic, 0, 0); err != nil {
			t.Error(err)
		}
		wantError[*idem.FencedError](t, sink.Deliver(ctx, src.assignment.Partition, records(1, "put 2 2")))
		wantError[*idem.FencedError](t, sink.Deliver(ctx, src.assignment.Partition, records(1, "put 2 2")))
		if _, err := sink.Assigned(ctx, src.assignment); err == nil {
			t.Error("taken over again without standing by")
		}
		want(t, "position of the take-over", standsStill(t, sink).At.Offset, 1)
		if _, err := sink.Assigned(ctx, src.assignment); err != nil {
			t.Error(err)
		}
		if err := sink.Deliver(ctx, src.assignment.Partition, records(1, "put 2 2")); err != nil {
			t.Error(err)
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "rows", table(t, db), "1=1 2=2")
}

// A revoke waits for the transaction in flight, cancels it after two seconds, and nothing
// of it stays.
func TestRevokeEndsTheTransactionInFlight(t *testing.T) {
	lengthy(t)
	db := database(t)
	started := make(chan struct{})
	c := service{handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		close(started)
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return err
	}}.consumer(t, db)
	src := newSource(records(0, "put 1 1"))
	src.then = func(ctx context.Context, sink idem.Sink) {
		done := make(chan error, 1)
		go func() { done <- sink.Deliver(ctx, src.assignment.Partition, records(1, "put 2 2", "call 1")) }()
		<-started
		at := time.Now()
		sink.Revoked(src.assignment.Partition)
		if d := time.Since(at); d > 30*time.Second {
			t.Errorf("Revoked took %v", d)
		}
		if err := <-done; err == nil {
			t.Error("a batch that was cancelled counts as durable")
		}
	}
	if err := src.run(t, c); err != nil {
		t.Fatal(err)
	}
	want(t, "rows", table(t, db), "1=1")
}
