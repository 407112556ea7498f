package handler_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// asking is a tracer that asks each statement's context for what its handler was called for.
type asking struct{ knew int }

func (a *asking) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if _, ok := idem.DeliveryFrom(ctx); ok && strings.HasPrefix(data.SQL, "INSERT INTO t ") {
		a.knew++
	}
	return ctx
}

func (*asking) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestTracerFindsTheCallInAStatementsContext(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	cfg, tracer := db.Config(), &asking{}
	cfg.ConnConfig.Tracer = tracer
	traced, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
		return err
	}}.Consumer(t, traced))
	rig.Apply(t, w, rig.Records(0, "call 1", "call 2"))
	rig.Want(t, "statements whose call the tracer knew", tracer.knew, 2)
}

// tenant is a statement's text that depends on the event.
type tenant struct{}

func (tenant) RewriteQuery(ctx context.Context, _ *pgx.Conn, sql string, args []any) (string, []any, error) {
	d, ok := idem.DeliveryFrom(ctx)
	if !ok {
		return sql, args, errors.New("the context does not know the event")
	}
	return sql, append(args, d.Message.Offset), nil
}

func TestRewriterFindsTheCallInAStatementsContext(t *testing.T) {
	t.Parallel()
	const insert = `INSERT INTO t VALUES ($1, 1)`
	for name, run := range map[string]handle{
		"Exec": func(ctx context.Context, tx idem.Tx, _ int32) error {
			_, err := tx.Exec(ctx, insert, tenant{})
			return err
		},
		"QueryRow": func(ctx context.Context, tx idem.Tx, _ int32) error {
			return tx.QueryRow(ctx, insert+` RETURNING id`, tenant{}).Scan(new(int32))
		},
		"Query": func(ctx context.Context, tx idem.Tx, _ int32) error {
			rows, err := tx.Query(ctx, insert, tenant{})
			if err != nil {
				return err
			}
			rows.Close()
			return rows.Err()
		},
		"SendBatch": func(ctx context.Context, tx idem.Tx, _ int32) error {
			var b pgx.Batch
			b.Queue(insert, tenant{})
			return tx.SendBatch(ctx, &b).Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			rig.Apply(t, rig.Own(t, rig.Service{Handle: run}.Consumer(t, db)), rig.Records(7, "call 1"))
			rig.Want(t, "dead letters", rig.Letters(t, db), "")
			rig.Want(t, "rows", rig.Table(t, db), "7=1")
		})
	}
}
