package chain

import "github.com/idemgen/idemgen/internal/protocol"

// Mutant is the protocol with one mistake.
type Mutant struct {
	Name string // with the number of the planted bug, if it has one
	Rules
	Bound  Bound  // within which it is caught
	Caught string // how the violation that shows it begins
}

// The violations that mutants are caught by.
const (
	anotherRow   = "I5, I6: a worker moves forward"
	wrongKeys    = "I5: worker"
	twiceAtSeq   = "I1, I2: there was a row"
	notDense     = "I1: a row at seq"
	notLinked    = "I1: the row before is another one"
	twiceEffect  = "I4: offset 0 left"
	stuck        = "liveness"
	noMemory     = "I16"
	unfencedLoad = "I5: a memory is loaded"
)

// small is a bound for a mutant.
func small(f Faults) Bound { return Bound{Left: f, Poison: every[:1]} }

// young is a small bound in which there is no stream yet.
func young(f Faults) Bound { return Bound{Left: f, Poison: every[:1], Young: true} }

// Mutants are mistakes. The model must catch each of them.
func Mutants() []Mutant {
	bug := func(name string, b Bug, bound Bound, caught string) Mutant {
		return Mutant{name, Rules{protocol.Next, b}, bound, caught}
	}
	return append(tableMutants(),
		bug("1 the predecessor is not checked", NoPredecessor, small(Faults{Failovers: 1}), notDense),
		bug("2 the predecessor's token is not compared", PredecessorWithoutToken, small(Faults{Assignments: 1, Failovers: 1}), notLinked),
		bug("3 one token for all attempts of a worker", TokenPerWorker, small(Faults{Losses: 1, Refusals: 1}), anotherRow),
		bug("4 own token found: advance to the latest attempt's end", AdoptsLatest, small(Faults{Losses: 1}), anotherRow),
		bug("5 the tail bears my token: success", TailBearsMyToken, small(Faults{Failovers: 1}), anotherRow),
		bug("6 in doubt: read, and no row means rolled back", DoubtByReading, small(Faults{Losses: 1}), "I5, I8: whose row"),
		bug("7 a conflict of the append is ignored", ConflictIgnored, small(Faults{Assignments: 1}), anotherRow),
		bug("9 effects are committed before the row", EffectOutside, small(Faults{Kills: 1}), twiceEffect),
		bug("10 replies of single statements are taken as acknowledgement", AcknowledgedEarly, small(Faults{}), anotherRow),
		bug("11 keys enter memory when they are sent", KeysEarly, small(Faults{}), wrongKeys),
		bug("12 memory outlives a reassignment", MemoryOutlivesRevoke, small(Faults{Assignments: 2}), wrongKeys),
		bug("13 memory is kept when fenced, only the tail is read again", MemoryKeptWhenFenced, small(Faults{Assignments: 1}), wrongKeys),
		bug("14 no fence, and keys are loaded before the tail is read", NoFence, small(Faults{Assignments: 1}), wrongKeys),
		bug("17 two owners may stand at one seq", NoUniqueIndex, small(Faults{Assignments: 1}), twiceAtSeq),
		bug("18 retention deletes the tail", TailRetained, small(Faults{Assignments: 1, Retentions: 1}), stuck),
		bug("18, 22 retention deletes the tail, and a missing chain gets a second genesis", SecondGenesis, small(Faults{Assignments: 1, Retentions: 1}), "I1, I12: a second genesis"),
		bug("19 retention deletes fences instead of a prefix", FencesRetained, small(Faults{Assignments: 1, Retentions: 1}), twiceAtSeq),
		bug("retention does not wait for statements that began earlier", RunningStatementsForgotten, small(Faults{Assignments: 1, Retentions: 1}), twiceAtSeq),
		bug("28 a dead letter claims its key", LetterClaims, small(Faults{Refusals: 1}), wrongKeys),
		bug("29 dead letters are committed before the row", LetterOutside, small(Faults{Kills: 1, Refusals: 1}), twiceEffect),
		bug("45 two appends of one worker are under way", TwoAppends, small(Faults{}), "I7"),
		bug("a transaction that ends early keeps its token", ShortenedUnderTheSameToken, small(Faults{Losses: 1, Shortenings: 1}), anotherRow),
		bug("a transaction that ends early is no attempt of its own", ShortenedUnremembered, small(Faults{Losses: 1, Shortenings: 1}), "I5, I8: whose row"),
		bug("a paused partition is taken over", PauseIgnored, small(Faults{Pauses: 1}), "I17"),
		bug("47 genesis is not tied to making the stream's row", GenesisWithoutStream, young(Faults{Assignments: 1, Retentions: 1}), twiceAtSeq),
	)
}

// tableMutants change the table that a partition in package engine runs by.
func tableMutants() []Mutant {
	const (
		standby, fencing, ready, sent, doubt = protocol.Standby, protocol.Fencing, protocol.Ready, protocol.Sent, protocol.Doubt
		keep, forward, load, discard         = protocol.Keep, protocol.Forward, protocol.Load, protocol.Discard
	)
	return []Mutant{
		bend("SENT, foreign: READY, keep", sent, protocol.Foreign, ready, keep, small(Faults{Assignments: 1}), stuck),
		bend("15 SENT, foreign: FENCING at once", sent, protocol.Foreign, fencing, discard, small(Faults{Assignments: 1, Failovers: 1}), "the chain grows"),
		bend("SENT, gone: READY, keep", sent, protocol.Gone, ready, keep, small(Faults{Failovers: 1}), stuck),
		bend("SENT, own: READY, keep", sent, protocol.Own, ready, keep, small(Faults{Losses: 1}), stuck),
		bend("SENT, unknown: READY, taken as rolled back", sent, protocol.Unknown, ready, discard, small(Faults{Kills: 1}), noMemory),
		bend("SENT, unknown: READY, taken as acknowledged", sent, protocol.Unknown, ready, forward, small(Faults{Kills: 1}), anotherRow),
		bend("DOUBT, connected: READY, taken as rolled back", doubt, protocol.Connected, ready, discard, small(Faults{Kills: 1}), noMemory),
		bend("DOUBT, connected: READY, taken as acknowledged", doubt, protocol.Connected, ready, forward, small(Faults{Kills: 1}), anotherRow),
		bend("SENT, data: READY, passed", sent, protocol.Data, ready, forward, small(Faults{Refusals: 1}), anotherRow),
		bend("FENCING, unknown: READY", fencing, protocol.Unknown, ready, load, small(Faults{Kills: 1}), unfencedLoad),
		bend("FENCING, conflict: READY", fencing, protocol.Conflict, ready, load, small(Faults{Troubles: 1}), unfencedLoad),
		cut("16 STANDBY never takes over", standby, protocol.Quiet, small(Faults{Assignments: 1}), stuck),
		cut("READY without records never learns of a failover", ready, protocol.Gone, small(Faults{Failovers: 1}), stuck),
		cut("HALTED for ever", protocol.Halted, protocol.Operator, small(Faults{Troubles: 1}), stuck),
	}
}

// bend leads one step of the table elsewhere.
func bend(name string, s protocol.State, e protocol.Event, next protocol.State, memory protocol.Memory, bound Bound, caught string) Mutant {
	return Mutant{"table: " + name, Rules{Next: func(state protocol.State, event protocol.Event) (protocol.State, protocol.Memory, bool) {
		if state == s && event == e {
			return next, memory, true
		}
		return protocol.Next(state, event)
	}}, bound, caught}
}

// cut takes a step out of the table.
func cut(name string, s protocol.State, e protocol.Event, bound Bound, caught string) Mutant {
	return Mutant{"table: " + name, Rules{Next: func(state protocol.State, event protocol.Event) (protocol.State, protocol.Memory, bool) {
		if state == s && event == e {
			return 0, 0, false
		}
		return protocol.Next(state, event)
	}}, bound, caught}
}
