package effects

// Bug is a mistake planted into the model.
type Bug uint8

// The planted bugs.
const (
	NoBug Bug = iota
	TakesFromTheLiving
	InterruptedIsFailed
	InterruptedKeepsToken
	CallsFromDone
	OneToken
	RecordedWithTheRows
	RecordedWithoutToken
	OwnAnswerKept
	CompletedWithoutToken
	CompletedUnasserted
	MisfitClaims
	MisfitKeepsNoResult
	KeyWithoutTopic
)

// Mutant is the model with one mistake.
type Mutant struct {
	Name   string
	Rules  Rules
	Left   Faults
	Caught string // the violation that shows it
}

const (
	again   = "a call was made again although none was cut off"
	other   = "rows hold another result than the store"
	nothing = "a duplicate of an event that never took effect"
	foreign = "rows hold the result of another event"
)

// Mutants are mistakes. The model must catch each of them.
func Mutants() []Mutant {
	return []Mutant{
		{"a lease is taken from a living holder", Rules{Copies: true, Bug: TakesFromTheLiving}, Faults{}, again},
		{"interrupted is taken for failed", Rules{DeadLetter: true, Bug: InterruptedIsFailed}, Faults{Crash: 1}, again},
		{"a copy of an interrupted event is called", Rules{DeadLetter: true, Copies: true, Bug: InterruptedIsFailed}, Faults{Doubt: 1}, again},
		{"who marks a lease as interrupted leaves its token", Rules{DeadLetter: true, Copies: true, Bug: InterruptedKeepsToken}, Faults{Pause: 1, Person: 1}, other},
		{"a call is made from done", Rules{Bug: CallsFromDone}, Faults{Move: 1}, "done was left"},
		{"the answer is recorded with the rows only", Rules{Bug: RecordedWithTheRows}, Faults{Move: 1, Crash: 1}, again},
		{"all leases have one token", Rules{Bug: OneToken}, Faults{Pause: 1, Move: 1}, other},
		{"an end is recorded without its token", Rules{Bug: RecordedWithoutToken}, Faults{Pause: 1, Move: 1}, other},
		{"the caller's own answer is written in place of the row's", Rules{External: true, Copies: true, Bug: OwnAnswerKept}, Faults{Pause: 1}, other},
		{"the ledger's transaction does not assert the lease", Rules{Bug: CompletedUnasserted}, Faults{Flush: 1}, other},
		{"it asserts the lease without its token", Rules{Copies: true, Bug: CompletedWithoutToken}, Faults{Flush: 1}, other},
		{"a dead letter whose result cannot be read claims the key", Rules{Bug: MisfitClaims}, Faults{Misfit: 1, Replay: 1}, nothing},
		{"it keeps no result", Rules{External: true, Bug: MisfitKeepsNoResult}, Faults{Misfit: 1, Flush: 1, Replay: 1}, again},
		{"the lease of an offset's event is not that of its topic", Rules{Topics: true, Bug: KeyWithoutTopic}, Faults{Topic: 1}, foreign},
	}
}
