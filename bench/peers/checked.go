package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// checked inserts the keys of a batch, and the readings whose keys were new, in one statement.
type checked struct {
	db   *pgxpool.Pool
	rows columns
	keys []pgtype.UUID
	seen map[pgtype.UUID]struct{} // of this batch
}

func newChecked(db *pgxpool.Pool) writer {
	return &checked{db: db, seen: map[pgtype.UUID]struct{}{}}
}

// The keys are inserted in their order, or two partitions with copies could deadlock.
const insertNewReadings = `
WITH fresh AS (
	INSERT INTO seen (key) SELECT key FROM unnest($1::uuid[]) AS key ORDER BY key
	ON CONFLICT DO NOTHING RETURNING key
)
INSERT INTO readings (reading_id, device_id, site, taken_at, temperature, humidity, battery)
SELECT r.reading_id, r.device_id, r.site, r.taken_at, r.temperature, r.humidity, r.battery
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::float8[], $7::float8[], $8::int[])
	AS r (key, reading_id, device_id, site, taken_at, temperature, humidity, battery)
JOIN fresh USING (key)`

func (w *checked) write(ctx context.Context, batch []*kgo.Record) error {
	w.rows.clear()
	w.keys = w.keys[:0]
	clear(w.seen)
	for _, r := range batch {
		key, err := keyOf(r)
		if err != nil {
			return err
		}
		if _, copied := w.seen[key]; copied {
			continue
		}
		w.seen[key] = struct{}{}
		one, err := decode(r)
		if err != nil {
			return err
		}
		w.keys = append(w.keys, key)
		w.rows.add(one)
	}
	c := &w.rows
	_, err := w.db.Exec(ctx, insertNewReadings, w.keys, c.ids, c.devices, c.sites, c.times, c.temperatures, c.humidities, c.batteries)
	return err
}
