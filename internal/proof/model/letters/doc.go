// Package letters is parking, replay and discard of dead letters (docs/protocol.md) as a small
// state machine that is explored exhaustively: one partition with four records; the record
// key of three of them parks; two workers; people who ask; the upkeep.
//
// What can go wrong is bounded by numbers ([Faults]): crashes, another owner while the one before
// lives on, transactions whose answer is lost, requests, letters that the upkeep closes. The code
// that refuses a record may be mended at any time.
//
// Abstracted away: time, how often a refused record is tried, handlers, and how a transaction
// commits (package chain explores that): it happens as a whole, or not at all, and only if the
// row behind which it is appended is the last one.
//
// It must not import any package of this module but explore.
package letters
