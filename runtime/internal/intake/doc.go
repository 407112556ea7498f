// Package intake passes records of assigned partitions from a Kafka client to the sink. It is
// common to all clients; each client has its own package for everything else.
//
// A partition has two goroutines. The one that polls the client, for all partitions, maintains a
// [Cursor] and puts records into a [Queue]. The partition's own goroutine runs a [Delivery], which
// takes batches from the queue. It alone calls the sink for the partition, except to give it up:
//
//	polling goroutine              partition's goroutine
//	  Cursor.Accept ---> Queue ---> Delivery.Run ---> Sink
//	  Cursor.Apply  <-- Report ---'
//
// The reports take a partition through these states:
//
//	TakingOver ---> Reading         the sink returned where to read
//	Reading ------> TakingOver      the position is in doubt
//	Reading ------> StandingBy      the sink fenced or halted the partition
//	StandingBy ---> AwaitingRecord  it is taken over when a record waits
//	StandingBy ---> TakingOver      it is taken over immediately
//	AwaitingRecord > TakingOver     a record arrived, which is dropped and read again later
//
// Memory is bounded by back-pressure: see [Queue.Throttle].
//
// It does not depend on a Kafka client. It must not import any package of this module but
// idemtype, wire and backoff.
package intake
