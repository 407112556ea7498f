package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// unchecked has no check for duplicates: at least once, the baseline.
func unchecked(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	return consume(ctx, brokers, func(ctx context.Context, r *kgo.Record) error { return book(ctx, db, r.Value) })
}
