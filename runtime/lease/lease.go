// Package lease defines the lease under which an effect runs: its states, and the interface of a
// store of leases. docs/effects.md describes the states.
//
//	         Acquire                Record                 the ledger's transaction
//	(none) ----------> Processing ----------> Done ---------------------> Completed
//	                    |   ^   |
//	      Record failed |   |   | it has expired, and the spec says dead_letter: Acquire
//	                    v   |   v
//	                  Failed    Interrupted
//
// There is one lease for each consumer and idempotency key, and all processes of the consumer see
// it. An operator can move a Failed or Interrupted lease to Processing (call again) or to Done
// (give the result): see [Decision]. Once a result is recorded, it cannot be replaced.
//
// The package must not import any package of this module but wire.
package lease

import (
	"context"
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// ErrLost is the cancellation cause of a call whose lease another process may hold. What the call
// returns is not recorded if another process does hold it.
var ErrLost = errors.New("the lease was lost")

// State is the state of an effect.
type State byte

// The states of an effect, as the letters under which they are stored.
const (
	Processing  State = 'p' // a call is running, or its holder is gone
	Done        State = 'd' // the call succeeded, and its result is recorded
	Completed   State = 'c' // Done, and the ledger has passed the event
	Failed      State = 'f' // the call did nothing, or may be repeated whatever it did (if_interrupted: retry)
	Interrupted State = 'i' // the outcome of the call is unknown: an operator decides
)

// Locks returns what a store is given as the consumer of the locks called name. All consumers
// share these locks, and no consumer has this name. A lock is a lease whose key identifies what is
// locked. Its holder records Failed without a pause, which frees it. Its content is always the
// zero Content.
func Locks(name string) string { return "lock:" + name }

// Store keeps leases. Its methods must be safe for concurrent use. Each method returns one result
// per element, in the same order, or an error. After an error no result is known, and some of the
// operations may have been carried out. The caller may then repeat the call with equal arguments.
//
// Times are measured by the store's own clock. If that may jump, the store sets [Answer.Mark], and
// may let a lease end once [Ask.Seen] covers its whole term. A store whose leases cannot end early
// or late ignores Ask.Seen.
//
// A store either draws a token for each lease that it grants, or uses the token of the Ask. In
// the second case it grants no lease for a token that is not greater than the previous one, and
// answers Stale. The caller then draws another token and asks again.
type Store interface {
	// Acquire acquires those of the leases that are available. The keys are distinct.
	Acquire(ctx context.Context, consumer string, asks []Ask) ([]Answer, error)
	// Extend extends leases by their whole term from now, and reports which of them are held.
	Extend(ctx context.Context, consumer string, held []Hold) ([]bool, error)
	// Record records how calls ended, and reports which of them still held their lease. Nothing is
	// recorded for the others.
	Record(ctx context.Context, consumer string, ends []End) ([]bool, error)
}

// Checker is an optional interface of a [Store].
type Checker interface {
	// Check examines the configuration of the store when a service starts. It returns warnings, in
	// sentences for operators, about settings that make the store lose leases early, which causes
	// calls to be made twice. An error means that the store cannot be queried, or is a [Broken].
	Check(ctx context.Context) (warnings []string, err error)
}

// Ask requests a lease.
type Ask struct {
	Key     wire.Key
	Content Content
	// Owner names this attempt, so that the store recognizes it if the answer was lost: a caller
	// that reuses a name has made no call under it. The lease is acquired again, even if it has
	// expired.
	Owner wire.UUID
	Term  time.Duration // how long the lease lasts, unless it is extended
	// Interrupts says what happens to a lease that expires: it becomes Interrupted or, if
	// Interrupts is false, free for the next caller.
	Interrupts bool
	Keep       time.Duration // how long, at least, the store remembers the outcome for the key
	// Token is drawn by the caller, from idem_fence, for a store that draws none. 0 means that the
	// store draws it.
	Token int64
	// Above is the highest token that the caller has seen. A store that draws tokens draws a
	// greater one, even if it was restored and has forgotten that.
	Above    int64
	Decision Decision
	Holder   string // names the calling process, for operators
	// Seen is the lease as the caller has seen it by its own clock. The zero Seen means that it has
	// not.
	Seen Seen
}

// Seen is a lease, or the pause after a failed call, that did not change while its caller watched.
type Seen struct {
	Token int64         // [Answer.Token]
	Mark  int64         // [Answer.Mark]
	For   time.Duration // at least so long, by a clock that does not jump
}

// Decision is what an operator decided about an event whose call failed or has an unknown outcome.
// The zero Decision means that there is none.
type Decision struct {
	// Number is drawn from idem_fence when the operator decides. It applies to leases with smaller
	// tokens: such a lease may be acquired even if it is Interrupted, or Failed with its pause not
	// yet over, and its calls are counted from zero again. The new holder has a greater token, so
	// each decision leads to one attempt. The outcome of that attempt needs another decision.
	Number int64
	// Result says that the call was made, and what it returned. The lease is then not granted: it
	// becomes Done with this result, unless it is held, or its result is already recorded. nil
	// means that the call is to be made.
	Result []byte
}

// Content identifies the content of an event. An event with an equal definition but a different
// fingerprint is not a duplicate.
type Content struct{ Def, Print uint32 }

// Answer is the result of an Ask.
type Answer struct {
	Got      bool          // the caller has the lease, and State is Processing
	State    State         // otherwise the state of the lease; Failed only during its pause
	Content  Content       // of the event that the lease is for
	Token    int64         // of the last holder; grows with each one
	Attempts int           // number of calls started, including this one
	Result   []byte        // of Done and Completed
	Error    string        // of the last call that failed, or why its outcome is unknown
	Wait     time.Duration // of Processing and Failed: until the lease may be acquired; at most its term, or the pause
	Holder   string        // [Ask.Holder] of the last holder
	// Mark changes, for a token, whenever the lease is extended. 0 means that the store does not
	// need [Ask.Seen].
	Mark int64
	// Apart is by how much the store's clock is ahead of the caller's, if they disagree so much
	// that nothing ends by them.
	Apart time.Duration
	// Stale says that the lease is available, but not for the Token of the Ask, because that is
	// not greater than the Token here. Nothing was changed. Only a store that draws no tokens
	// sets it.
	Stale bool
}

// Hold is a lease that was acquired.
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
	Error  string        // of Failed and Interrupted, for operators
	Pause  time.Duration // of Failed: until the next call
	// Attempts is how many calls count from now on: fewer than were made if one is not to count,
	// and 0 once the event has become a dead letter.
	Attempts int
}

// Broken is an error of a store after which an operator must act: for example, what it holds is
// not a lease, or it denies access.
type Broken struct{ Err error }

func (e *Broken) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Broken) Unwrap() error { return e.Err }
