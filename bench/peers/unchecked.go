package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// unchecked inserts a batch in one statement, and knows no copies.
type unchecked struct {
	db   *pgxpool.Pool
	rows columns
}

func newUnchecked(db *pgxpool.Pool) writer { return &unchecked{db: db} }

const insertReadings = `
INSERT INTO readings (reading_id, device_id, site, taken_at, temperature, humidity, battery)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::float8[], $6::float8[], $7::int[])`

func (u *unchecked) write(ctx context.Context, batch []*kgo.Record) error {
	u.rows.clear()
	for _, r := range batch {
		one, err := decode(r)
		if err != nil {
			return err
		}
		u.rows.add(one)
	}
	c := &u.rows
	_, err := u.db.Exec(ctx, insertReadings, c.ids, c.devices, c.sites, c.times, c.temperatures, c.humidities, c.batteries)
	return err
}
