// Package script names what the fault kit tells the service's processes, by their environment.
// It must not import any other package of this module.
package script

import "strings"

// Variables of the environment.
const (
	Brokers  = "KAFKA_BROKERS"
	Database = "DATABASE_URL"
	Redis    = "REDIS_ADDRESSES"  // host:port of a server, or of several of a Cluster, by commas
	Provider = "FAULTS_PROVIDER"  // file in which effects write down their calls
	LongCall = "FAULTS_LONG_CALL" // how long two of 50 calls take
	ExitAt   = "FAULTS_EXIT_AT"   // "step" or "step/n": end at the n-th time a batch comes to it
	Handler  = "FAULTS_HANDLER"   // one of the handlers below
	Client   = "FAULTS_CLIENT"    // client.id
	Library  = "FAULTS_LIBRARY"   // the Kafka client: franz, or else confluent
	Session  = "FAULTS_SESSION"   // milliseconds after which the group misses the process
	Protocol = "FAULTS_PROTOCOL"  // group.protocol
	MaxPoll  = "FAULTS_MAX_POLL"  // max.poll.interval in place of the spec's
	NoPoll   = "FAULTS_NO_POLL"   // once, the polling goroutine stands still for so long
	Relayed  = "FAULTS_TOPIC"     // the topic to which a relay sends all events; else each goes to its own
	DieAt    = "FAULTS_DIE_AT"    // a relay's process dies at the n-th acknowledgement
	Clock    = "FAULTS_CLOCK_BY"  // at every SIGUSR1 the process's clock jumps: by so much, and back
)

// Handlers of OrderPaid. They do what the example's does, and something else first.
const (
	Slow      = "slow"      // takes 300 ms
	Contend   = "contend"   // locks two rows, each partition's own order
	Serialize = "serialize" // every fifth call gets 40001 from the database
	Panic     = "panic"     // panics at unlucky payments
	Goexit    = "goexit"    // ends its goroutine at unlucky payments
	Exit      = "exit"      // ends the process at the third call
	Ignore    = "ignore"    // never comes back from the third call, whatever its context says
	Read      = "read"      // reads a long result while it holds its transaction
	Refuse    = "refuse"    // refuses every payment
)

// Protocols in which a group shares its partitions out.
const (
	Classic  = "classic"  // members do
	Consumer = "consumer" // the broker does
)

// Code is what a process exits with that ends itself on purpose.
const Code = 86

// Unlucky says which payments the handlers fail at: one in sixteen.
func Unlucky(paymentID string) bool { return strings.HasSuffix(paymentID, "d") }
