package idemtype

import "time"

// CallStats count the calls of effects that this process made. Those that ended only grow.
type CallStats struct {
	Running     int           // calls that run now; at most effect_concurrency
	Oldest      time.Duration // for how long the one of them runs that began first; 0 if none does
	Waiting     int           // records whose effect is not over: it runs, or waits for its turn or for another process
	Done        int64         // ended well: the result was recorded
	Failed      int64         // did nothing: made again as on_failure says, or the end was a dead letter
	Interrupted int64         // nobody knows what it did: a person decides
	Lost        int64         // what it returned was dropped: the lease was lost, or could not be asked for
	Failing     []FailingEffect
}

// FailingEffect is an effect whose last calls in this process failed.
type FailingEffect struct {
	Event string
	Err   string    // of the last call
	Since time.Time // of the first of these calls
	Calls int       // that failed since then
	Next  time.Time // when the next one is made of the event whose call failed last
}
