package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// twoMembers are the sinks of two processes of one group. The first has applied a
// record and the second, which the group has forgotten, fences the partition too late.
func twoMembers(t *testing.T) (db *pgxpool.Pool, rightful, late idem.Sink) {
	db = rig.Database(t)
	rightful, late = rig.Drive(t, rig.Service{}.Consumer(t, db)), rig.Drive(t, rig.Service{}.Consumer(t, db))
	rig.Assign(t, rightful, 0)
	rig.Deliver(t, rightful, rig.Records(0, "put 1 1"))
	rig.Assign(t, late, 1)
	return db, rightful, late
}

const kindsSQL = `SELECT string_agg(kind::text, '' ORDER BY seq) FROM idem_ledger`

// Who fenced a partition that it then turns out to have lost gives it back at once.
func TestLateFenceIsHandedBack(t *testing.T) {
	t.Parallel()
	for name, noticed := range map[string]bool{"the owner has noticed": true, "the owner has not noticed": false} {
		t.Run(name, func(t *testing.T) {
			_, rightful, late := twoMembers(t)
			refused := func() {
				rig.WantError[*idem.FencedError](t, rightful.Deliver(t.Context(), rig.First, rig.Records(1, "put 2 2")))
			}
			if noticed {
				refused()
			}
			late.Lost(rig.First)
			if !noticed {
				refused()
			}
			rig.AtOnce(t, rightful)
			rig.Assign(t, rightful, 1)
			rig.Deliver(t, rightful, rig.Records(1, "put 2 2"))
		})
	}
}

// What was handed back and taken since is nobody else's: neither another deployment, which
// stands by, nor one that halted may fence the owner at work.
func TestHandBackIsOverWhenItIsTaken(t *testing.T) {
	rig.Lengthy(t)
	for name, refused := range map[string]func(t *testing.T, other idem.Sink){
		"stands by": func(t *testing.T, other idem.Sink) {
			rig.WantError[*idem.FencedError](t, other.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")))
		},
		"is halted": func(t *testing.T, other idem.Sink) {
			rig.WantError[*idem.HaltedError](t, other.Deliver(t.Context(), rig.First, rig.Records(0, "stop 1 1")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			other := rig.Drive(t, rig.Service{}.Consumer(t, db))
			rig.Assign(t, other, 0)
			if name == "is halted" {
				refused(t, other)
			}
			rightful, late := rig.Drive(t, rig.Service{}.Consumer(t, db)), rig.Drive(t, rig.Service{}.Consumer(t, db))
			rig.Assign(t, rightful, 0)
			rig.Deliver(t, rightful, rig.Records(0, "put 1 1"))
			if name == "stands by" {
				refused(t, other)
			}
			rig.Assign(t, late, 1)
			late.Lost(rig.First)
			rig.Assign(t, rightful, 1)
			idles(t, other)
		})
	}
}

// Who gives up what it worked on, or what the group waits for it to give up, appends nothing.
func TestOnlyALateFenceIsHandedBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		giveUp func(sink idem.Sink)
		chain  string
	}{
		"a partition that was worked on is lost": {func(sink idem.Sink) {
			rig.Deliver(t, sink, rig.Records(1, "put 2 2"))
			sink.Lost(rig.First)
		}, "gfbfb"},
		"a partition is revoked": {func(sink idem.Sink) { sink.Revoked(rig.First) }, "gfbf"},
	} {
		t.Run(name, func(t *testing.T) {
			db, _, late := twoMembers(t)
			test.giveUp(late)
			rig.Want(t, "chain", rig.Query(t, db, kindsSQL), test.chain)
		})
	}
}

// A hand-back is an append like any other: after the next owner's row it is none.
func TestHandingBackIsFenced(t *testing.T) {
	t.Parallel()
	db, rightful, late := twoMembers(t)
	rig.Assign(t, rightful, 1)
	late.Lost(rig.First)
	rig.Want(t, "chain", rig.Query(t, db, kindsSQL), "gfbff")
	rig.Deliver(t, rightful, rig.Records(1, "put 2 2"))
}

// A fence may wait for the former owner's transaction when the partition is lost. It is
// waited for, and handed back.
func TestFenceInFlightIsHandedBack(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]rig.Service{"keys anywhere": {}, "keys in the chain": rig.InChain(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			sink := rig.Drive(t, s.Consumer(t, db))
			rig.Assign(t, sink, 0)
			former, err := db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = former.Rollback(context.Background()) }()
			if _, err := former.Exec(t.Context(), rig.AppendRowSQL("b", "next + 1", "")); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				_, _ = sink.Assigned(ctx, rig.NewSource(nil).Assignment)
			}()
			for rig.Query(t, db, `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`) == "0" {
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := former.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-answered
			sink.Lost(rig.First)
			rig.Want(t, "chain", rig.Query(t, db, kindsSQL), "gfff")
			rig.Want(t, "handed back", rig.Query(t, db, `SELECT count(*) FROM idem_ledger WHERE info LIKE 'handed back by %'`), "1")
		})
	}
}

// Two stand by. What is handed back, or left by an operator, one of them takes; the other then
// goes on standing by.
func TestOneTakesWhatIsFree(t *testing.T) {
	rig.Lengthy(t)
	for name, free := range map[string]func(t *testing.T, db *pgxpool.Pool){
		"handed back":    func(t *testing.T, db *pgxpool.Pool) { rig.AppendRow(t, db, "f", "next", "handed back by a test") },
		"by an operator": func(t *testing.T, db *pgxpool.Pool) { rig.AppendRow(t, db, "o", "next", "operator ann: why") },
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			one, other, late := rig.Drive(t, rig.Service{}.Consumer(t, db)), rig.Drive(t, rig.Service{}.Consumer(t, db)), rig.Drive(t, rig.Service{}.Consumer(t, db))
			rig.Assign(t, one, 0)
			rig.Assign(t, other, 0)
			rig.Assign(t, late, 0)
			rig.AppendRow(t, db, "f", "next", "another process")
			for _, sink := range []idem.Sink{one, other, late} {
				rig.WantError[*idem.FencedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(0, "put 1 1")))
			}
			free(t, db)
			rig.AtOnce(t, one)
			rig.AtOnce(t, other)
			rig.Assign(t, one, 0)
			rig.Deliver(t, one, rig.Records(0, "put 1 1"))
			_, err := other.Assigned(t.Context(), rig.NewSource(nil).Assignment)
			rig.WantError[*idem.FencedError](t, err)
			idles(t, late) // it reads the chain for the first time
			rig.Deliver(t, one, rig.Records(1, "put 2 2"))
		})
	}
}
