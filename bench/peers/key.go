package main

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/twmb/franz-go/pkg/kgo"
)

const keyHeader = "Idempotency-Key"

// keyOf reads the record's idempotency key, which is a UUID.
func keyOf(r *kgo.Record) (key pgtype.UUID, err error) {
	for _, h := range r.Headers {
		if h.Key == keyHeader {
			if err := key.Scan(string(h.Value)); err != nil {
				return key, fmt.Errorf("partition %d, offset %d: %s: %w", r.Partition, r.Offset, keyHeader, err)
			}
			return key, nil
		}
	}
	return key, fmt.Errorf("partition %d, offset %d: no header %s", r.Partition, r.Offset, keyHeader)
}
