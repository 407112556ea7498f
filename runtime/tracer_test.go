package idem_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
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
	db := database(t)
	cfg, tracer := db.Config(), &asking{}
	cfg.ConnConfig.Tracer = tracer
	traced, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	w := own(t, service{handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, 1)`, row)
		return err
	}}.consumer(t, traced))
	apply(t, w, records(0, "call 1", "call 2"))
	want(t, "statements whose call the tracer knew", tracer.knew, 2)
}
