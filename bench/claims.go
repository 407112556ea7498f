package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimed is how many keys each measurement of claims inserts, in transactions of claimBatch.
const (
	claimed    = 400_000
	claimBatch = 500
)

// shape is a table of keys, and how keys get into it. $1 are the keys and $2 their fingerprints,
// in the order of the keys; $3 is the batch.
type shape struct {
	name, columns, insert string
	copied                []string // columns of a COPY, in place of insert
}

const asNow = "gen int NOT NULL, key uuid NOT NULL, def int NOT NULL, fp int NOT NULL, stream int NOT NULL, seq bigint NOT NULL"

const insertNow = `INSERT INTO claims SELECT 1, k, 7, f, 3, $3::bigint FROM unnest($1::uuid[], $2::int[]) AS u (k, f)`

var shapes = []shape{
	{name: "as it is", columns: asNow + ", PRIMARY KEY (key)", insert: insertNow},
	{name: "without the index", columns: asNow, insert: insertNow},
	{
		name: "key, fingerprint and batch", columns: "key uuid PRIMARY KEY, fp int NOT NULL, batch int NOT NULL",
		insert: `INSERT INTO claims SELECT k, f, $3::bigint::int FROM unnest($1::uuid[], $2::int[]) AS u (k, f)`,
	},
	{
		name: "the key alone", columns: "key uuid PRIMARY KEY",
		insert: `INSERT INTO claims SELECT k FROM unnest($1::uuid[], $2::int[]) AS u (k, f) WHERE $3::bigint >= 0`,
	},
	{name: "by COPY", columns: asNow + ", PRIMARY KEY (key)", copied: []string{"gen", "key", "def", "fp", "stream", "seq"}},
	{
		name: "with ON CONFLICT", columns: asNow + ", PRIMARY KEY (key)",
		insert: insertNow + ` ON CONFLICT DO NOTHING RETURNING key`,
	},
}

// measureClaims prints what it takes to insert random keys: in tables of several shapes, and with
// more and more keys in the index, without and behind a checkpoint.
func measureClaims(ctx context.Context, out io.Writer) (err error) {
	db, err := startDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	settings, err := db.settings(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# %s; one writer, %d random keys in transactions of %d\n", settings, claimed, claimBatch)
	if err := db.claims(ctx, io.Discard, shapes[0], 0); err != nil { // the server's memory is touched for the first time
		return err
	}
	for _, s := range shapes {
		if err := db.claims(ctx, out, s, 0); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for _, before := range []int{250_000, 1_000_000, 5_000_000} {
		if err := db.claims(ctx, out, shapes[0], before); err != nil {
			return err
		}
	}
	return nil
}

// claims measures one table, with some keys in it before.
func (d *database) claims(ctx context.Context, out io.Writer, s shape, before int) error {
	conn := d.admin
	fill := fmt.Sprintf("INSERT INTO claims SELECT 1, gen_random_uuid(), 7, 7, 3, 1 FROM generate_series(1, %d)", before)
	for _, sql := range []string{"DROP TABLE IF EXISTS claims", "CREATE TABLE claims (" + s.columns + ")", fill, "CHECKPOINT"} {
		if sql == fill && before == 0 {
			continue
		}
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	parts := []string{"behind a checkpoint", "later"}
	if before == 0 { // all pages are new
		parts = []string{"from none on"}
	}
	for _, part := range parts {
		wal, err := d.written(ctx)
		if err != nil {
			return err
		}
		used, err := d.cpu(ctx)
		if err != nil {
			return err
		}
		n := claimed / len(parts)
		for i := 0; i < n; i += claimBatch {
			if err := s.claim(ctx, conn, int64(i)); err != nil {
				return err
			}
		}
		after, err := d.cpu(ctx)
		if err != nil {
			return err
		}
		end, err := d.written(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-27s %9d keys before, %-19s: %.2f us of the database's CPU, %d bytes of WAL a key\n",
			s.name, before, part, float64((after-used)/time.Nanosecond)/1000/float64(n), (end-wal)/int64(n))
	}
	return nil
}

// claim inserts one batch of keys.
func (s shape) claim(ctx context.Context, conn *pgx.Conn, batch int64) error {
	keys, prints := make([][16]byte, claimBatch), make([]int32, claimBatch)
	for i := range keys {
		for at := range keys[i] {
			keys[i][at] = byte(rand.Uint32())
		}
		prints[i] = rand.Int32()
	}
	slices.SortFunc(keys, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if s.copied == nil {
			_, err := tx.Exec(ctx, s.insert, keys, prints, batch)
			return err
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"claims"}, s.copied, pgx.CopyFromSlice(claimBatch, func(i int) ([]any, error) {
			return []any{int32(1), keys[i], int32(7), prints[i], int32(3), batch}, nil
		}))
		return err
	})
}

// written is how many bytes of WAL there are so far.
func (d *database) written(ctx context.Context) (n int64, err error) {
	err = d.admin.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").Scan(&n)
	return n, err
}
