package handler_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// nesters are what a call does that leaves a savepoint for the calls after it, under a name.
var nesters = map[string]struct {
	name string
	set  func(ctx context.Context, tx idem.Tx) error
}{
	"a savepoint of pgx": {"sp_1", func(ctx context.Context, tx idem.Tx) error {
		_, err := idem.PgxTx(tx).Begin(ctx)
		return err
	}},
	"a savepoint of pgx that was rolled back to": {"sp_1", func(ctx context.Context, tx idem.Tx) error {
		sp, err := idem.PgxTx(tx).Begin(ctx)
		if err != nil {
			return err
		}
		return sp.Rollback(ctx)
	}},
}

// A call cannot take back what the records between an earlier call and itself did, however the
// savepoint was set, and however it is used. A savepoint that a call sets itself is its own.
func TestSavepointOfAnotherCallLosesNoRecord(t *testing.T) {
	t.Parallel()
	sets := maps.Clone(nesters)
	for way, send := range ways {
		if way != "in a savepoint" && way != "under a name" { // which end it; are no such statements
			sets[way] = struct {
				name string
				set  func(ctx context.Context, tx idem.Tx) error
			}{"s", func(ctx context.Context, tx idem.Tx) error { return send(ctx, tx, `SAVEPOINT s`) }}
		}
	}
	for by, s := range sets {
		for _, use := range []string{`ROLLBACK TO `, `RELEASE `} {
			t.Run(by+"/"+use, func(t *testing.T) {
				t.Parallel()
				db := rig.Database(t)
				w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
					switch row {
					case 1:
						return s.set(ctx, tx)
					case 2:
						_, err := tx.Exec(ctx, use+s.name)
						return err
					case 3:
						return pgx.BeginFunc(ctx, idem.PgxTx(tx), func(tx pgx.Tx) error { return rig.AddOne(ctx, tx.(idem.Tx), 30) })
					}
					return rig.AddOne(ctx, tx, row)
				}}.Consumer(t, db))
				_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 1", "put 2 2", "call 3", "call 4", "call 2", "put 3 3"))
				h := rig.WantError[*idem.HaltedError](t, err)
				if !strings.HasPrefix(h.Reason, "handler Test rolled back to a savepoint that an earlier call had left") || h.Offset != 5 {
					t.Errorf("got %v", h)
				}
				rig.Want(t, "rows", rig.Table(t, db), "")
			})
		}
	}
}

// A call that rolls back to a savepoint of another does not hide it by setting one again, whatever
// its name.
func TestSavepointThatIsSetAgainHidesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s", "idem_call"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				switch row {
				case 1:
					_, err := tx.Exec(ctx, `SAVEPOINT `+name)
					return err
				case 2:
					_, err := tx.Exec(ctx, `ROLLBACK TO `+name)
					return errors.Join(err, ending(`SAVEPOINT `+name)(ctx, tx))
				}
				return rig.AddOne(ctx, tx, row)
			}}.Consumer(t, db))
			_, err := w.Apply(t.Context(), rig.Records(0, "put 1 1", "call 1", "put 2 2", "call 3", "call 2", "put 3 3"))
			if h := rig.WantError[*idem.HaltedError](t, err); h.Offset != 4 {
				t.Errorf("got %v", h)
			}
			rig.Want(t, "rows", rig.Table(t, db), "")
		})
	}
}

func TestSavepointsOfACallAreItsOwn(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		for _, sql := range []string{`SAVEPOINT s`, `INSERT INTO t VALUES (9, 9)`, `ROLLBACK TO s`} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return rig.AddOne(ctx, tx, row)
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "put 2 0", "call 2", "put 3 3", "call 2", "call 2", "put 4 4"))
	rig.Want(t, "rows", rig.Table(t, db), "2=3 3=3 4=4")
	rig.Want(t, "position", w.Next(), 6)
}
