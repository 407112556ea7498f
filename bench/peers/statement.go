package main

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/twmb/franz-go/pkg/kgo"
)

// statement is what is done for each record. It must write a row.
type statement struct {
	sql  string
	args func(*kgo.Record) ([]any, error)
}

// updateDevice counts a reading for its device, and keeps its temperature.
var updateDevice = statement{
	sql: `UPDATE devices SET readings = readings + 1, temperature = $2 WHERE device_id = $1`,
	args: func(r *kgo.Record) ([]any, error) {
		one, err := decode(r)
		return []any{one.DeviceID, one.Temperature}, err
	},
}

// wrote is an error if the statement of a record wrote no row.
func wrote(r *kgo.Record, tag pgconn.CommandTag) error {
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("partition %d, offset %d: no row was written", r.Partition, r.Offset)
	}
	return nil
}
