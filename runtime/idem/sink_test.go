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
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestSourceIsToldWhereToRead(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1", "put 2 2"))
	src.Then = func(_ context.Context, sink idem.Sink) {
		rig.Want(t, "durable", sink.Durable(src.Assignment.Partition).Offset, 2)
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "first position", src.Position.Offset, 0)
	src = rig.NewSource(rig.Records(1, "put 2 9", "put 3 3"))
	src.Assignment.Committed = rig.CommittedAt(1) // an old hint: the ledger decides
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "second position", src.Position.Offset, 2)
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
	rig.Want(t, "redelivered", c.Stats().Redelivered, 1)
}

// Only what the group has committed says whether the database lost commits: until it is known, no
// partition is taken over.
func TestPartitionIsNotTakenOverBeforeTheGroupsOffsetIsKnown(t *testing.T) {
	t.Parallel()
	sink := rig.Drive(t, rig.Service{}.Consumer(t, rig.Database(t)))
	a := rig.NewSource(nil).Assignment
	settling := errors.New("the group settles")
	for range 2 {
		a.Committed = func(context.Context) (idem.Commit, error) { return idem.Commit{}, settling }
		if _, err := sink.Assigned(t.Context(), a); !errors.Is(err, settling) {
			t.Fatalf("the partition was taken over with the error %v", err)
		}
		a.Committed = rig.CommittedAt(-1)
		if _, err := sink.Assigned(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// The start of a partition is fixed before its first record: records that came while no
// owner lived are not lost to start_from: latest.
func TestStartIsFixedBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].StartFrom = wire.Latest }}.Consumer(t, db)
	src := rig.NewSource(nil)
	src.Assignment.High = 5
	if err := src.Consume(t, c); err != nil { // it ends without a record
		t.Fatal(err)
	}
	src = rig.NewSource(rig.Records(5, "put 5 5", "put 6 6", "put 7 7"))
	src.Assignment.High = 8
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", src.Position.Offset, 5)
	rig.Want(t, "rows", rig.Table(t, db), "5=5 6=6 7=7")
}

// A partition that is given up before it has a ledger must leave no committed offset: the next
// owner would find one without the other and halt.
func TestNothingIsDurableWhileAPartitionIsTakenOver(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	a := rig.NewSource(nil).Assignment
	var waiting, ready int64
	err := rig.Service{}.Consumer(t, db).Run(t.Context(), rig.SourceFunc(func(ctx context.Context, sink idem.Sink) error {
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
		rig.Eventually(t, db, "true", `SELECT (count(*) > 0)::text FROM pg_stat_activity WHERE application_name = 'idemgen' AND wait_event_type = 'Lock' AND datname = current_database()`)
		waiting = sink.Durable(a.Partition).Offset
		if err := lock.Rollback(ctx); err != nil {
			return err
		}
		if err := <-taken; err != nil {
			return err
		}
		ready = sink.Durable(a.Partition).Offset
		sink.Revoked(a.Partition)
		return rig.ErrDone
	}))
	if !errors.Is(err, rig.ErrDone) {
		t.Fatal(err)
	}
	rig.Want(t, "durable while it waits", waiting, -1)
	rig.Want(t, "durable when it is taken over", ready, 0)
}

func TestPartitionThatCannotBeReadHalts(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*idem.Assignment){
		"topic made again":    func(a *idem.Assignment) { a.TopicID = idem.UUID{2} },
		"retention overtook":  func(a *idem.Assignment) { a.Low = 5 },
		"other partition has": func(a *idem.Assignment) { a.Partition.Number, a.Committed = 3, rig.CommittedAt(10) },
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			c := rig.Service{}.Consumer(t, db)
			if err := rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, c); err != nil {
				t.Fatal(err)
			}
			src := rig.NewSource(rig.Records(1, "put 2 2"))
			edit(&src.Assignment)
			rig.WantError[*idem.HaltedError](t, src.Consume(t, c))
			rig.WantError[*idem.HaltedError](t, c.Health().Err())
			rig.Want(t, "rows", rig.Table(t, db), "1=1")
		})
	}
}

// Who resets a database beside a broker that was kept is told both ways on, and what each does.
func TestMissingLedgerHasTwoWaysOut(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	src := rig.NewSource(rig.Records(10, "put 1 1"))
	src.Assignment.Low, src.Assignment.Committed = 5, rig.CommittedAt(10)
	halted := rig.WantError[*idem.HaltedError](t, src.Consume(t, c))
	if len(halted.Ways) != 2 {
		t.Fatalf("%d ways out: %v", len(halted.Ways), halted.Ways)
	}
	adopt := "idemgen stream set --consumer test --topic " + rig.Topic + " --partition 0 --from none --topic-id " + src.Assignment.TopicID.String()
	rig.Want(t, "the way that skips", halted.Ways[0].String(), adopt+" --to 10 --partitions 4 --reason ledger-missing")
	rig.Want(t, "the way that reads again", halted.Ways[1].String(), adopt+" --to 5 --partitions 4 --reason ledger-missing")
	_, told, _ := strings.Cut(c.Health().Err().Error(), " [ledger-missing; then: ")
	rig.Want(t, "what Health tells", told, halted.Ways[0].String()+"] [with it "+halt.Skips+"] [or: "+halted.Ways[1].String()+"] [with it "+halt.Rereads+"]")
	src.Assignment.Low = 10
	halted = rig.WantError[*idem.HaltedError](t, src.Consume(t, rig.Service{}.Consumer(t, db)))
	rig.Want(t, "ways of a topic that has nothing to skip", len(halted.Ways), 1)
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
			db := rig.Database(t)
			c := rig.Service{}.Consumer(t, db)
			if err := rig.NewSource(rig.Records(0, "put 1 1")).Consume(t, c); err != nil {
				t.Fatal(err)
			}
			src := rig.NewSource(rig.Records(7, "put 2 2"))
			a := &src.Assignment
			a.TopicID, a.Low, a.Committed = idem.UUID{2}, 5, rig.CommittedAt(tc.committed)
			halted := rig.WantError[*idem.HaltedError](t, src.Consume(t, c))
			rig.Want(t, "code", halted.Code, halt.TopicRecreated)
			adopt := "idemgen stream set --consumer test --topic " + rig.Topic + " --partition 0 --from none --topic-id " + a.TopicID.String() + " --to "
			const end = " --partitions 4 --reason topic-recreated"
			ways := ""
			for _, to := range strings.Fields(tc.skips + " " + tc.read) {
				ways += adopt + to + end + "\n"
			}
			said := ""
			for _, w := range halted.Ways {
				said += w.String() + "\n"
			}
			rig.Want(t, "ways", said, ways)
		})
	}
}

func TestLogShorterThanThePositionMayLagThenHalts(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	if err := rig.NewSource(rig.Records(0, "put 1 1", "put 2 2")).Consume(t, c); err != nil {
		t.Fatal(err)
	}
	src := rig.NewSource(nil)
	src.Assignment.High = 1
	err := src.Consume(t, c)
	if err == nil || errors.As(err, new(*idem.HaltedError)) {
		t.Errorf("at first: got %v, want an error that may pass", err)
	}
}

func TestOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	c := rig.Service{}.Consumer(t, db)
	var broken atomic.Bool
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(ctx context.Context, sink idem.Sink) {
		broken.Store(true)
		go func() {
			for broken.Load() {
				_, _ = db.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND datname = current_database()`)
			}
		}()
		time.AfterFunc(300*time.Millisecond, func() { broken.Store(false) })
		for i := int64(1); i < 40; i++ {
			if err := sink.Deliver(ctx, src.Assignment.Partition, rig.Records(i, "put 1 1", "put 2 2")[:1]); err != nil {
				t.Error(err)
			}
		}
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "40")
	rig.Want(t, "applied", c.Stats().Applied, 40)
}

func TestFencedPartitionIsGivenBack(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	c := rig.Service{Edit: rig.Hasty}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(ctx context.Context, sink idem.Sink) {
		other := rig.Service{}.Consumer(t, db)
		if _, err := other.Own(ctx, rig.Topic, 0, 0); err != nil {
			t.Error(err)
		}
		rig.WantError[*idem.FencedError](t, sink.Deliver(ctx, src.Assignment.Partition, rig.Records(1, "put 2 2")))
		rig.WantError[*idem.FencedError](t, sink.Deliver(ctx, src.Assignment.Partition, rig.Records(1, "put 2 2")))
		if _, err := sink.Assigned(ctx, src.Assignment); err == nil {
			t.Error("taken over again without standing by")
		}
		rig.Want(t, "position of the take-over", rig.StandsStill(t, sink).At.Offset, 1)
		if _, err := sink.Assigned(ctx, src.Assignment); err != nil {
			t.Error(err)
		}
		if err := sink.Deliver(ctx, src.Assignment.Partition, rig.Records(1, "put 2 2")); err != nil {
			t.Error(err)
		}
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A revoke waits for the transaction in flight, cancels it after two seconds, and nothing
// of it stays.
func TestRevokeEndsTheTransactionInFlight(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	started := make(chan struct{})
	c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, _ int32) error {
		close(started)
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return err
	}}.Consumer(t, db)
	src := rig.NewSource(rig.Records(0, "put 1 1"))
	src.Then = func(ctx context.Context, sink idem.Sink) {
		done := make(chan error, 1)
		go func() { done <- sink.Deliver(ctx, src.Assignment.Partition, rig.Records(1, "put 2 2", "call 1")) }()
		<-started
		at := time.Now()
		sink.Revoked(src.Assignment.Partition)
		if d := time.Since(at); d > 30*time.Second {
			t.Errorf("Revoked took %v", d)
		}
		if err := <-done; err == nil {
			t.Error("a batch that was cancelled counts as durable")
		}
	}
	if err := src.Consume(t, c); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "rows", rig.Table(t, db), "1=1")
}
