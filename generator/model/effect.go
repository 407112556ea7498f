package model

import "time"

// Effect is Go code outside of the transaction, under a lease, before the event's steps.
type Effect struct {
	Lease      time.Duration // how long another process waits after the holder was heard of
	Timeout    time.Duration // of one call
	Keep       time.Duration // how long the result is remembered
	Interrupts bool          // if_interrupted: dead_letter; else retry
	Redis      bool          // store: redis; else its leases are in Postgres
	// UsePostgres is if_store_down: use_postgres; else events wait for the store.
	UsePostgres bool
	Result      *Type // nil if the call returns nothing but an error
}
