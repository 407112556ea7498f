// Package inspect reads, for people, what the runtime's tables say: dead letters with their
// records, and where an offset or a key went. Command idemgen prints it.
//
// It changes nothing, and reads a standby as well as the primary. It knows nothing of Kafka: which
// records are in a topic, the caller must know. Of this module it may import packages stream and
// wire, and the internal ones that know the form of what is stored; no Kafka client.
package inspect
