package idemtype

import "time"

// CallStats counts the calls of effects that this process made. The counts of ended calls only
// grow.
type CallStats struct {
	Running     int           // calls that are running; at most effect_concurrency
	Oldest      time.Duration // how long the oldest of them has been running; 0 if there is none
	Waiting     int           // records whose effect is not complete: it is running, or waits for its turn or for another process
	Done        int64         // succeeded: the result was recorded
	Failed      int64         // did nothing, or if_interrupted is retry: retried as on_failure says, or given up
	Interrupted int64         // with unknown outcome: an operator decides
	Lost        int64         // result dropped: the lease was lost, or its state could not be queried
	Failing     []FailingEffect
}

// FailingEffect is an effect whose most recent calls in this process failed.
type FailingEffect struct {
	Event string
	Err   string    // of the last call
	Since time.Time // of the first of these calls
	Calls int       // number that failed since then
	Next  time.Time // when the event whose call failed last is called again, as an estimate
}
