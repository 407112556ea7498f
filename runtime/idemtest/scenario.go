package idemtest

import (
	"math/rand/v2"
	"slices"

	"github.com/idemgen/idemgen/runtime/idem"
)

// scenario is one way in which records reach a consumer. Whatever happens in it, the tables and
// the dead letters must be those of each event applied once, alone, in order.
type scenario struct {
	name     string
	play     func(*trial)
	suspects string // the likely causes if it fails
}

// basic are the scenarios without which the others say nothing.
var basic = map[string]bool{"rolled back, then applied": true, "every handler changes a row": true, "one by one": true, "once": true}

// short are the scenarios that go test -short plays, of topics and of cases: the basic ones,
// and whether copies change rows.
var short = map[string]bool{"repeated in the batch": true, "every event repeated in its batch": true}

// ofATopic are the scenarios of a topic's log, behind those that come first.
func ofATopic(log []record, first ...scenario) func() []scenario {
	all := slices.Concat(first, topicScenarios)
	if slices.ContainsFunc(log, func(r record) bool { return r.effect != "" }) {
		all = slices.Concat(all, effectScenarios)
	}
	if slices.ContainsFunc(log, func(r record) bool { return r.locked }) {
		all = slices.Concat(all, lockScenarios)
	}
	return func() []scenario { return all }
}

var effectScenarios = []scenario{
	{"calls cut off", cutOff,
		"If the process of a call died, the call is repeated with the same key and another token, or left to an operator, as if_interrupted says; never both."},
	{"lease lost while a call runs", leaseLost,
		"A holder whose lease expired must record nothing: if it wakes up, its result must be dropped, and only one result recorded."},
}

// untilCommit comes first for handlers.
var untilCommit = scenario{"rolled back, then applied", rolledBack,
	"A handler must write only through tx, and keep no state in memory."}

var topicScenarios = []scenario{
	{"one by one", func(b *trial) { b.inBatches(b.log, func() int { return 1 }) },
		"The SQL of single events, the expected rows, or a trigger of yours that rejects a record of the log. All other scenarios build on this one."},
	{"one batch", func(b *trial) { b.apply(b.messages(b.log)...) },
		"Statements of one batch see each other's rows in another order than the events: where waves end (Puts, Reads), collapsing, the order of statements."},
	{"random batches", randomBatches,
		"The same as for one batch, but with fewer events: run it alone and halve the log."},
	{"redelivered", redelivered,
		"Records below the ledger's position must be skipped."},
	{"repeated in the batch", repeatedInBatch,
		"The second copy of a key in one batch must have no effect: Claim, and the parts of the idempotency key. A dead letter claims no key."},
	{"repeated in later batches", repeatedLater,
		"A key that was claimed earlier must be found: what is claimed, and the read of known keys before a batch."},
	{"on two partitions at once", twoPartitions,
		"If two transactions claim the same key, one must lose and then decide again."},
	{"two owners at once", twoOwners,
		"Only the owner whose row is the ledger's tail may write, and its first statement must check that."},
	{"zombie", zombie,
		"An owner that lost its partition must be rejected before it writes."},
	{"ledger lost its tail", lostTail,
		"After a failover to an older state, nothing in memory may survive from the lost time: the append names its predecessor by token."},
	{"crash at every step", crashes,
		"Effect and position must commit together; a handler must write only through tx."},
	{"reply lost", repliesLost,
		"A transaction whose reply is lost may have committed: the ledger row in its place decides, by its content."},
	{"poison in the middle", poison,
		"A record that cannot be decoded must become one dead letter, in the transaction of its batch, without affecting other records."},
	{"values that cannot be unpacked", misEncoded,
		"A value must be unpacked completely before any part of the record is used."},
	{"key with other content", conflict,
		"A known key with other content is a conflict, not a duplicate: the fingerprint must cover every declared field."},
	{"repaired and replayed", mendedAndReplayed,
		"When a dead letter is replayed, the records of its key that wait behind it must be applied in order, each once, and claim no key before."},
	{"tombstone", tombstone,
		"A missing value differs from an empty one: only a missing value is a tombstone."},
}

// inBatches applies records in batches of the sizes that size returns.
func (b *trial) inBatches(log []record, size func() int) {
	owners := b.owners()
	for rest := b.messages(log); len(rest) > 0; {
		n := together(rest, size())
		owners.deliver(rest[:n])
		rest = rest[n:]
	}
}

func randomBatches(b *trial) {
	random := rand.New(rand.NewPCG(1, uint64(len(b.log)))) // the same in every run
	b.inBatches(b.log, func() int { return 1 + random.IntN(7) })
}

func redelivered(b *trial) {
	all := b.messages(b.log)
	b.apply(all...)
	for i := range all {
		if res := b.apply(all[i:]...); int(res.Duplicates) != len(all)-i {
			b.t.Errorf("%d records were redelivered; the runtime reports %+v", len(all)-i, res)
		}
	}
}

// repeatable are the records whose second copy must have no effect once the log is applied: those
// with an identity of their own that took effect. A copy of a refused event is tried like a new
// one, as it should be.
func (b *trial) repeatable() (out []record) {
	waits := keysThatWait(b)
	for _, r := range b.log {
		if r.keyed && !b.isDead(r) && !waits(r) {
			out = append(out, r)
		}
	}
	return out
}

func repeatedInBatch(b *trial) {
	var all []idem.Message
	next := map[string]int64{} // offset, by topic
	take := func(r record) int64 { next[r.message.Topic]++; return next[r.message.Topic] - 1 }
	for _, r := range b.log {
		all = append(all, b.at(r, 0, take(r)))
		switch {
		case r.keyed && b.isDead(r): // a dead letter claims no key: the copy is refused for itself, or waits behind it
			m, want := b.copied(r, 0, take(r)), b.want.dead[r.index]
			want.mayWait = true
			b.ownDead[placeOf(m)] = want
			all = append(all, m)
		case r.keyed:
			all = append(all, b.copied(r, 0, take(r)))
		}
	}
	b.apply(all...)
}

func repeatedLater(b *trial) {
	b.apply(b.messages(b.log)...)
	owners := b.owners() // a new owner knows nothing yet
	for range 2 {
		var again []idem.Message
		for _, r := range b.repeatable() {
			again = append(again, b.copied(r, 0, b.reached[partition{r.message.Topic, 0}]))
		}
		if res := owners.deliver(again); int(res.Duplicates) != len(again) {
			b.t.Errorf("%d copies at later offsets; the runtime reports %+v", len(again), res)
		}
	}
}

func twoPartitions(b *trial) {
	anywhere := func(r record) bool { return r.keyed && !r.copies.Here && !b.isDead(r) }
	if !slices.ContainsFunc(b.log, anywhere) {
		b.t.Skip("no record of this topic has a copy in another partition")
	}
	b.moved = true // of two copies either may have the effect
	owners := b.owners()
	for _, r := range b.log {
		first := owners.writer(partition{r.message.Topic, 0})
		if !anywhere(r) {
			b.deliver(first, []idem.Message{b.at(r, 0, int64(r.index))})
			continue
		}
		second := owners.writer(partition{r.message.Topic, 1})
		one, other := []idem.Message{b.at(r, 0, int64(r.index))}, []idem.Message{b.copied(r, 1, int64(r.index))}
		b.atOnce(func() { b.deliver(first, one) }, func() { b.deliver(second, other) })
	}
}
