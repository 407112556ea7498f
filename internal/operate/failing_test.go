package operate_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// failing is a database one of whose queries fails: the one after left others.
type failing struct {
	operate.DB
	left *int
}

func (f failing) fails() bool {
	*f.left--
	return *f.left == -1
}

func (f failing) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if f.fails() {
		return f.DB.Query(ctx, "SELECT 1 / 0")
	}
	return f.DB.Query(ctx, sql, args...)
}

func (f failing) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if f.fails() {
		return f.DB.QueryRow(ctx, "SELECT 1 / 0")
	}
	return f.DB.QueryRow(ctx, sql, args...)
}

func (f failing) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := f.DB.BeginTx(ctx, options)
	return failingTx{tx, f}, err
}

// failingTx is a transaction of it.
type failingTx struct {
	pgx.Tx
	of failing
}

func (f failingTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if f.of.fails() {
		return f.Tx.Query(ctx, "SELECT 1 / 0")
	}
	return f.Tx.Query(ctx, sql, args...)
}

func (f failingTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if f.of.fails() {
		return f.Tx.QueryRow(ctx, "SELECT 1 / 0")
	}
	return f.Tx.QueryRow(ctx, sql, args...)
}

// Whichever query fails, what was asked for has that error: nothing is concluded from what could
// not be read.
func TestAFailedQueryIsAnError(t *testing.T) {
	db := ledgers(t)
	kept := record.Append(nil, &wire.Message{Key: []byte("a"), Value: []byte(`{"id": "7"}`)})
	if _, err := db.Exec(t.Context(), `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, order_key, record) VALUES
    (1, 13, 7, 'd', 'Paid', 'interrupted: Paid: bad', $1, $2), (1, 14, 7, 'w', 'Paid', 'decode: Paid: bad', $1, NULL)`,
		record.OrderKey([]byte("a")), kept); err != nil {
		t.Fatal(err)
	}
	of, err := operate.StreamOf(t.Context(), db, projector)
	if err != nil {
		t.Fatal(err)
	}
	first, err := operate.LettersAt(t.Context(), db, &of, 13)
	if err != nil || len(first) != 1 {
		t.Fatal(first, err)
	}
	type d = operate.DB
	ctx, topic, dry := t.Context(), projector.Topic, operate.By{Operator: "ann", Reason: "a test", DryRun: true}
	selection := operate.Selection{Topic: projector.Topic, Through: operate.Mark{At: time.Now().Add(time.Hour)}}
	place := operate.Place{Consumer: "projector", Topic: topic, Offset: 13}
	mine := record.EventKey{Event: "Paid", Here: true, Fields: map[string]string{"id": "7"}}
	one := func(hash byte, here bool) func(d) (any, error) {
		key := record.EventKey{Hash: wire.UUID{hash}, Here: here}
		return func(db d) (any, error) { return operate.FindKey(ctx, db, "projector", topic, -1, key) }
	}
	for name, read := range map[string]func(d) (any, error){
		"an offset":        func(db d) (any, error) { return operate.FindOffset(ctx, db, projector, 13) },
		"an offset before": func(db d) (any, error) { return operate.FindOffset(ctx, db, projector, 3) },
		"a key":            func(db d) (any, error) { return operate.FindKey(ctx, db, "projector", topic, -1, mine) },
		"a key of a topic": one(1, true),
		"a key of all":     one(1, false),
		"a place and keys": func(db d) (any, error) { return operate.Find(ctx, db, projector, &place, []record.EventKey{mine}) },
		"history":          func(db d) (any, error) { return operate.History(ctx, db, "", true, 10) },
		"a letter":         func(db d) (any, error) { return operate.Open(ctx, db, projector, 13) },
		"no letter":        func(db d) (any, error) { return operate.Open(ctx, db, projector, 3) },
		"letters":          func(db d) (any, error) { return operate.Letters(ctx, db, operate.Selection{}, 10) },
		"a page":           func(db d) (any, error) { return operate.Page(ctx, db, selection, operate.Mark{}, 10) },
		"some places":      func(db d) (any, error) { return operate.FindLetters(ctx, db, []operate.Place{place}) },
		"letters again":    func(db d) (any, error) { return operate.Refresh(ctx, db, first) },
		"what waits behind": func(db d) (any, error) {
			letters, n, err := operate.BehindLetter(ctx, db, &first[0], 10)
			return []any{letters, n}, err
		},
		"groups":  func(db d) (any, error) { return operate.GroupsOf(ctx, db, operate.Selection{}) },
		"a count": func(db d) (any, error) { return operate.CountOf(ctx, db, selection, "replay") },
		"what is meant": func(db d) (any, error) {
			letters, left, err := operate.Meant(ctx, db, selection, "replay")
			return []any{letters, left}, err
		},
		"progress":               func(db d) (any, error) { return operate.ProgressOf(ctx, db, time.Now()) },
		"streams":                func(db d) (any, error) { return operate.List(ctx, db, "") },
		"streams of a topic":     func(db d) (any, error) { return operate.Present(ctx, db, "projector", topic) },
		"the consumer":           func(db d) (any, error) { return operate.ConsumerOf(ctx, db, topic) },
		"the consumer of no one": func(db d) (any, error) { return operate.ConsumerOf(ctx, db, "none") },
		"processes":              func(db d) (any, error) { return operate.Processes(ctx, db, "") },
		"calls":                  func(db d) (any, error) { return operate.CallsOf(ctx, db, "") },
		"locks":                  func(db d) (any, error) { return operate.Locks(ctx, db) },
		"the lock of a session":  func(db d) (any, error) { return operate.LockOf(ctx, db, 1) },
		"idle":                   func(db d) (any, error) { return operate.Idle(ctx, db, first) },
		"outbox":                 func(db d) (any, error) { return operate.FindOutbox(ctx, db) },
		"kinds of the outbox":    func(db d) (any, error) { return operate.OutboxKinds(ctx, db) },
		"keys of a ledger":       func(db d) (any, error) { return operate.SealedKeys(ctx, db, "projector") },
		"a pause":                func(db d) (any, error) { return operate.Pause(ctx, db, projector, dry) },
		"a release": func(db d) (any, error) {
			return operate.Release(ctx, db, projector, operate.Leave{Partitions: 9}, dry)
		},
	} {
		t.Run(name, func(t *testing.T) {
			never := 1 << 30
			is, why := read(failing{db, &never})
			queries := 1<<30 - never
			if queries == 0 {
				t.Fatal("it asks nothing")
			}
			for n := range queries {
				left := n
				got, err := read(failing{db, &left})
				if err == nil || why != nil && err.Error() == why.Error() {
					t.Errorf("query %d of %d fails: %+v, %v, want an error; without it %+v, %v", n+1, queries, got, err, is, why)
				} else if !strings.Contains(err.Error(), "division by zero") && !reflect.ValueOf(got).IsZero() {
					t.Errorf("query %d of %d fails: %v", n+1, queries, err)
				}
			}
		})
	}
}
