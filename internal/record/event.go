package record

import "time"

// EventKey is the idempotency key that an event has by some of its parts.
type EventKey struct {
	Hash   [16]byte
	Event  string
	Window time.Duration // how long duplicates are known
	// Here means that all duplicates arrive in one partition (copies: same_partition): the key is in
	// a ledger, not in the table that partitions share.
	Here bool
	// Headers and Fields are the parts of the key, by their names.
	Headers, Fields map[string]string
}
