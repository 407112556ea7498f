package model

import (
	"slices"
	"time"
)

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
	Lock        *Lock // nil if the call holds none
}

// Lock is what no two calls work on at the same time.
type Lock struct {
	Name string
	By   []*Field // whose texts tell which one
}

// Redis reports whether leases of effects are in Redis.
func (s *Service) Redis() bool {
	return slices.ContainsFunc(s.Topics, func(t *Topic) bool {
		return slices.ContainsFunc(t.Events, func(e *Event) bool {
			return e.Effect != nil && e.Effect.Redis
		})
	})
}
