// Package inspect reads, for people, what the runtime's tables say: dead letters with their
// records, and where an offset or a key went. Command idemgen prints it.
//
// It changes nothing, and reads a standby as well as the primary. It knows nothing of Kafka: which
// records are in a topic, the caller must know. It must not import any package of this module but
// ledger, record, stream and wire.
package inspect
