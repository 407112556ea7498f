package textbook

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// A lock is the recipe's: SET NX with a time to live.
type lock struct{ *redis.Client }

// locks are in a Redis of the test's own.
func locks(t *testing.T) lock {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: idemtest.StartRedis(t).Addr()})
	t.Cleanup(func() { _ = client.Close() })
	return lock{client}
}

func (l lock) acquire(ctx context.Context, name, owner string) (bool, error) {
	return l.SetNX(ctx, name, owner, 5*time.Minute).Result()
}

// extend and release do not ask whose lock it is. releaseMine does, in one step.
func (l lock) extend(ctx context.Context, name string) (bool, error) {
	return l.PExpire(ctx, name, 5*time.Minute).Result()
}

func (l lock) release(ctx context.Context, name string) error { return l.Del(ctx, name).Err() }

func (l lock) releaseMine(ctx context.Context, name, owner string) (bool, error) {
	const script = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`
	n, err := l.Eval(ctx, script, []string{name}, owner).Int()
	return n == 1, err
}

// fiveMinutesPass ends a lock's time to live.
func (l lock) fiveMinutesPass(t *testing.T, name string) {
	t.Helper()
	if ended, err := l.PExpire(t.Context(), name, 0).Result(); err != nil || !ended {
		t.Fatalf("no lock %s: %v", name, err)
	}
}

// markThenEffect takes the lock for the mark that an event was processed.
func markThenEffect(ctx context.Context, l lock, db *pgxpool.Pool, m idem.Message, between gap) error {
	fresh, err := l.acquire(ctx, key(m), "1")
	if err != nil || !fresh {
		return err
	}
	if err := between.pass(); err != nil {
		return err
	}
	return book(ctx, db, m)
}

// One key with a time to live cannot say both that somebody is at work, and that the work is done.
func TestSetNXAsAMark(t *testing.T) {
	t.Parallel()
	l, db := locks(t), processed(t)
	lost, twice := received(0, "a", 100), received(1, "b", 1000)
	crashed(t, markThenEffect(t.Context(), l, db, lost, crash))
	must(t, markThenEffect(t.Context(), l, db, lost, nil)) // delivered again, and taken for a copy
	balance(t, db, "a mark, then a crash", 0)
	must(t, markThenEffect(t.Context(), l, db, twice, nil))
	must(t, markThenEffect(t.Context(), l, db, twice, nil))
	balance(t, db, "a mark that lives", 1000)
	l.fiveMinutesPass(t, key(twice))
	must(t, markThenEffect(t.Context(), l, db, twice, nil))
	balance(t, db, "a mark that ended", 2000)

	db = idemtest.Migrated(t, "migrations")
	if !crashAt(t, own(t, db, payments, 0), "before claim", lost) {
		t.Fatal("no crash")
	}
	w := own(t, db, payments, 0)
	apply(t, w, idem.Result{Applied: 2}, lost, twice)
	apply(t, w, idem.Result{Duplicates: 1}, moved(twice, 0, 2))
	balance(t, db, "generated", 1100)
}

// lockThenLook does all that is to be done alone under a lock, and gives it back.
func lockThenLook(ctx context.Context, l lock, db *pgxpool.Pool, m idem.Message, between gap) error {
	if got, err := l.acquire(ctx, key(m), "1"); err != nil || !got {
		return errors.Join(err, errBusy)
	}
	if found, err := known(ctx, db, key(m)); err != nil || found {
		return errors.Join(err, l.release(ctx, key(m)))
	}
	if err := between.pass(); err != nil {
		return err
	}
	if err := book(ctx, db, m); err != nil {
		return err
	}
	_, err := claim(ctx, db, key(m))
	return errors.Join(err, l.release(ctx, key(m)))
}

// While the owner of a lock sleeps its time ends, and another one does the work. The owner wakes,
// and does not know. Nothing that it writes to asks whether it still has the lock.
func TestOwnerOfALockSleepsTooLong(t *testing.T) {
	t.Parallel()
	l, db, m := locks(t), processed(t), received(0, "a", 100)
	must(t, lockThenLook(t.Context(), l, db, m, func() error {
		if err := lockThenLook(t.Context(), l, db, m, nil); !errors.Is(err, errBusy) {
			t.Errorf("while the lock lives: %v, want %v", err, errBusy)
		}
		l.fiveMinutesPass(t, key(m))
		return lockThenLook(t.Context(), l, db, m, nil)
	}))
	balance(t, db, "lock with a time to live", 200)

	// The partition goes to another process while the first one sleeps within its batch.
	db = idemtest.Migrated(t, "migrations")
	sleeper, next := own(t, db, payments, 0), consumer(t, db)
	ctx := idemtest.AtSteps(t.Context(), func(step string) error {
		if step != "before send" {
			return nil
		}
		w, err := idemtest.Own(t, next, payments, 0, 0)
		if err == nil {
			_, err = w.Apply(t.Context(), []idem.Message{m})
		}
		return err
	})
	_, err := sleeper.Apply(ctx, []idem.Message{m})
	if _, fenced := errors.AsType[*idem.FencedError](err); !fenced {
		t.Errorf("generated: the sleeper got %v, want that it is fenced", err)
	}
	balance(t, db, "generated", 100)
}

// Who extends or releases a lock by its name alone does so with somebody else's. It is not told
// that it lost the lock, and two work at a time.
func TestLockOfSomebodyElse(t *testing.T) {
	t.Parallel()
	l, ctx := locks(t), t.Context()
	acquire := func(owner string, want bool) {
		t.Helper()
		if got, err := l.acquire(ctx, "x", owner); err != nil || got != want {
			t.Errorf("%s got the lock: %t, %v; want %t", owner, got, err, want)
		}
	}
	acquire("a", true)
	l.fiveMinutesPass(t, "x")
	acquire("b", true)
	if still, err := l.extend(ctx, "x"); err != nil || !still {
		t.Errorf("a's heartbeat says that it lost the lock: %t, %v", still, err)
	}
	if mine, err := l.releaseMine(ctx, "x", "a"); err != nil || mine {
		t.Errorf("with a check of the owner a released b's lock: %t, %v", mine, err)
	}
	acquire("c", false)
	must(t, l.release(ctx, "x")) // by a, which believes that it has it
	acquire("c", true)           // beside b

	// An owner that is called after its process is the owner of all of its tries.
	must(t, l.release(ctx, "x"))
	acquire("process 1", true)
	l.fiveMinutesPass(t, "x")
	acquire("process 1", true)
	if mine, err := l.releaseMine(ctx, "x", "process 1"); err != nil || !mine {
		t.Errorf("the first try did not release the lock of the second one: %t, %v", mine, err)
	}
}

// The leases of idemgen, in the same Redis: each try is an owner of its own with a token of its
// own, and who lost the lease extends nothing, records nothing, and is told.
func TestLeaseOfSomebodyElse(t *testing.T) {
	t.Parallel()
	store, ctx := redislease.New(locks(t).Client), t.Context()
	acquire := func(token int64, term time.Duration) bool {
		t.Helper()
		ask := lease.Ask{Key: idem.Key{1}, Owner: idem.UUID{byte(token)}, Term: term, Keep: time.Hour, Token: token}
		answers, err := store.Acquire(ctx, "textbook", []lease.Ask{ask})
		if err != nil {
			t.Fatal(err)
		}
		return answers[0].Got
	}
	hold := func(token int64) lease.Hold {
		return lease.Hold{Key: idem.Key{1}, Owner: idem.UUID{byte(token)}, Token: token}
	}
	if !acquire(1, time.Millisecond) {
		t.Fatal("a lease that nobody has is not to be had")
	}
	until(t, "the second try has the lease", func() bool { return acquire(2, time.Hour) })
	held, err := store.Extend(ctx, "textbook", []lease.Hold{hold(1), hold(2)})
	if err != nil || held[0] || !held[1] {
		t.Errorf("extended: %v, %v; want the second only", held, err)
	}
	ends := []lease.End{{Hold: hold(1), State: lease.Failed}}
	if held, err = store.Record(ctx, "textbook", ends); err != nil || held[0] {
		t.Errorf("the first try gave the lease back: %v, %v", held, err)
	}
	if acquire(3, time.Hour) {
		t.Error("a third one works beside the second")
	}
}
