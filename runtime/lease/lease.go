// Package lease is what an effect outside of Postgres runs under: the states of a lease, and what
// a store of leases does. docs/effects.md draws the states.
//
//	         Acquire                Record                 the ledger's transaction
//	(none) ----------> Processing ----------> Done ---------------------> Completed
//	                    |   ^   |
//	      Record failed |   |   | its time is over, and the spec says dead_letter: Acquire
//	                    v   |   v
//	                  Failed    Interrupted
//
// A [Decision] of a person leads from Failed and Interrupted to Processing, and to Done. A lease
// belongs to a key of a consumer, and is for all of its processes. Done is never left but
// for Completed, so that a result is recorded once.
// The package must not import any package of this module but wire.
package lease

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// ErrLost is why the context of a call ends whose lease another process may have. What the call
// returns then is not recorded if another one has it.
var ErrLost = errors.New("the lease was lost")

// State is what is known of an effect.
type State byte

// The states of an effect, as the letters under which they are stored.
const (
	Processing  State = 'p' // a call is under way, or its holder is gone
	Done        State = 'd' // the call ended well, and its result is recorded
	Completed   State = 'c' // Done, and the ledger passed the event
	Failed      State = 'f' // the call did nothing; it may be made again
	Interrupted State = 'i' // nobody knows what the call did: a person decides
)

// Locks is who a store is told has the locks of a name, in place of a consumer: all consumers
// share them, and none is called so. A lock is a lease whose key is that of what is locked. Its
// holder records Failed without a pause, which frees it; its content is always the zero Content.
func Locks(name string) string { return "lock:" + name }

// Store keeps leases. Its methods may be called from several goroutines. Each answers for every
// element, in the same order, or returns an error: then none of its answers is known, and some
// may have been carried out. Calling it again with equal arguments is right.
//
// Times are measured by the store's own clock.
//
// A store draws a token for whoever gets a lease, or takes the one that the Ask brings: then it
// gives no lease for a token that does not grow, and answers Stale. The asker draws another one
// and asks again.
type Store interface {
	// Acquire takes leases, as far as they can be had. The keys are different ones.
	Acquire(ctx context.Context, consumer string, asks []Ask) ([]Answer, error)
	// Extend lets leases last for their whole time again, and reports which of them are held.
	Extend(ctx context.Context, consumer string, held []Hold) ([]bool, error)
	// Record records how calls ended, and reports which of them still held their lease. The
	// others record nothing.
	Record(ctx context.Context, consumer string, ends []End) ([]bool, error)
}

// Checker is what a store may be, too.
type Checker interface {
	// Check reads how the store is set up, when a service starts. It warns, in sentences for
	// people, of what makes it forget leases early: then calls are made twice. An error is that
	// the store cannot be asked, or a [Broken].
	Check(ctx context.Context) (warnings []string, err error)
}

// Ask asks for a lease.
type Ask struct {
	Key     wire.Key
	Content Content
	// Owner names this one try, so that it is known again if its answer was lost: who asks under
	// a name again has made no call under it. Its lease is had again, also if its time is over.
	Owner wire.UUID
	Term  time.Duration // how long the lease lasts, unless it is extended
	// Interrupts says what becomes of a lease that is not extended: Interrupted, or, if it is
	// false, free for the next one who asks.
	Interrupts bool
	Keep       time.Duration // how long the store remembers what became of the key, at least
	// Token is drawn by the asker, from idem_fence, for a store that draws none; 0: the store draws.
	Token    int64
	Decision Decision
	Holder   string // names the process that asks, for people
}

// Decision is what a person decided about an event whose call failed, or may have done something
// that nobody knows. The zero Decision is none.
type Decision struct {
	// Number is drawn from idem_fence when the person decides. It is about tokens that are
	// smaller: such a lease is to be had also if it is Interrupted, or Failed and its pause lasts;
	// its calls count anew. Who gets it has a greater token, so that each decision leads to one
	// try: what becomes of that is for another decision.
	Number int64
	// Result says that the call was made, and what it returned. Then nobody gets the lease: it is
	// Done with this result, unless somebody holds it, or its result is recorded. nil: call.
	Result []byte
}

// Content tells the content of an event: with an equal definition and another fingerprint, an
// event is no copy of it.
type Content struct{ Def, Print uint32 }

// Answer is what became of an Ask.
type Answer struct {
	Got      bool          // the lease is the asker's, and State is Processing
	State    State         // else what the lease is; Failed only while its pause lasts
	Content  Content       // of the event that it is for
	Token    int64         // of the last one who got it; grows with each
	Attempts int           // calls that began, with this one
	Result   []byte        // of Done and Completed
	Error    string        // of the last call that failed, or why nobody knows what it did
	Wait     time.Duration // of Processing and Failed: until the lease may be had
	Holder   string        // the [Ask.Holder] that got it last
	// Stale says that the lease could be had, but not for the Token of the Ask, since it is not
	// greater than the one here. Nothing was changed. Only stores that draw no token say so.
	Stale bool
}

// Hold is a lease that was got.
type Hold struct {
	Key   wire.Key
	Owner wire.UUID
	Token int64
}

// End is how a call ended: Done, Failed or Interrupted.
type End struct {
	Hold
	State  State
	Result []byte        // of Done
	Error  string        // of Failed and Interrupted, for people
	Pause  time.Duration // of Failed: until the next call
	// Attempts is how many calls count from now on: less than there were if one is not to count,
	// and none once the event became a dead letter.
	Attempts int
}

// Broken is an error of a store after which a person must act: what it holds is no lease.
type Broken struct{ Err error }

func (e *Broken) Error() string { return e.Err.Error() }

// Unwrap is what is wrong.
func (e *Broken) Unwrap() error { return e.Err }
