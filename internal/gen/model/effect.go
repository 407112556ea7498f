package model

import "time"

// Effect is Go code outside of the transaction, under a lease, before the event's steps.
type Effect struct {
	Timeout    time.Duration // of one call
	Keep       time.Duration // how long the result is remembered
	Interrupts bool          // if_interrupted: dead_letter; else retry
	Result     *Type         // nil if the call returns nothing but an error
	Lock       *Lock         // nil if the call holds none
}

// Lock is what no two calls work on at the same time.
type Lock struct {
	Name string
	By   []*Field // whose texts tell which one
}
