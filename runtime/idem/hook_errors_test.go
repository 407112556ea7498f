package idem_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// errs are what hooks hear of errors.
type errs struct{ all []error }

func (h *errs) OnBatchEnd(_ context.Context, _ idem.Partition, _ idem.Result, err error) { h.add(err) }
func (h *errs) OnState(_ idem.Partition, _, _ string, why error)                         { h.add(why) }
func (h *errs) OnRetry(_ idem.Partition, r hook.Pause)                                   { h.add(r.Err) }

func (h *errs) add(err error) {
	if err != nil {
		h.all = append(h.all, err)
	}
}

// An error that a hook hears names table, constraint and SQLSTATE, and no value of the record,
// however it is taken apart.
func TestErrorsOfHooksHoldNoValues(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for bad, is := range map[string]error{"add 4242 1": nil, "call 4242": mine} {
		t.Run(bad, func(t *testing.T) {
			h := &errs{}
			s := rig.Service{Policy: wire.FailurePolicy{Stop: true}, Options: []idem.Option{idem.WithHooks(h)}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
				return errors.Join(mine, err)
			}}
			sink := rig.Drive(t, s.Consumer(t, rig.Database(t)))
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "put 4242 1"))
			rig.WantError[*idem.HaltedError](t, sink.Deliver(t.Context(), rig.First, rig.Records(1, bad)))
			if len(h.all) == 0 {
				t.Fatal("no hook heard of an error")
			}
			for _, err := range h.all {
				pg, ok := errors.AsType[*pgconn.PgError](err)
				if !ok || pg.Code != "23505" || pg.TableName != "t" || pg.ConstraintName != "t_pkey" || is != nil && !errors.Is(err, is) {
					t.Errorf("the cause is hidden: %v", err)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					if text := fmt.Sprintf("%v", e); strings.Contains(text, "4242") {
						t.Errorf("%T quotes the record: %s", e, text)
					}
				}
				if ok && strings.Contains(fmt.Sprintf("%+v", *pg), "4242") {
					t.Errorf("the error of the database quotes the record: %+v", *pg)
				}
			}
		})
	}
}
