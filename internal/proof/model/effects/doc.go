// Package effects is an effect under a lease (docs/effects.md) as a small state machine that is
// explored exhaustively: one event, and possibly a producer's copy of it on another partition, or
// another event at its offset, of a topic that is made again; two workers; a store of leases. What
// the provider did, and what each worker knows of it, are apart.
//
// What can go wrong is bounded by numbers ([Faults]): crashes, holders that do not extend their
// lease in time, partitions that get another owner, answers of the store that are lost, calls that
// did nothing, and calls that may have done something, results that cannot be read, a store that
// loses its data, decisions of a person, dead letters that are replayed. The lease of a holder
// that is gone ends by itself.
//
// Abstracted away: time, pauses between tries, the number of tries, order per record key, slots,
// the chain (package chain explores it): a transaction of the ledger is one step, by the owner of
// the partition only, and the key of an event is claimed in it.
//
// It must not import any package of this module but explore.
package effects
