// Package intake brings records of assigned partitions from a Kafka client to the sink. It is
// what every client needs alike; what a client does in its own way is in the client's package.
//
// A partition has two goroutines. The one that polls the client, for all partitions, keeps a
// [Cursor] and puts records into a [Queue]. The partition's own runs a [Delivery], which takes
// batches from the queue and is the only one that calls the sink for the partition, except to
// end it:
//
//	polling goroutine              partition's goroutine
//	  Cursor.Accept ---> Queue ---> Delivery.Run ---> Sink
//	  Cursor.Apply  <-- Report ---'
//
// The reports take a partition through these states:
//
//	TakingOver ---> Reading         the sink told where to read
//	Reading ------> TakingOver      the position is in doubt
//	Reading ------> StandingBy      the sink fenced or halted the partition
//	StandingBy ---> AwaitingRecord  it is taken over when a record waits
//	StandingBy ---> TakingOver      it is taken over at once
//	AwaitingRecord > TakingOver     a record came, which is dropped and read again later
//
// Memory is bounded by back-pressure: see [Queue.Throttle].
//
// It knows no Kafka client. It must not import any package of this module but idemtype, wire and
// backoff.
package intake
