package idemtype

import (
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
)

// Problem is something about a service or one of its partitions that may need an operator. Usually
// there is no progress.
type Problem struct {
	// Code identifies the kind of problem and does not change between releases.
	//
	// Of a halted partition, it is the [halt.Code]. Of a partition in another state, it is the state:
	// standby, fencing, backoff, retrying or doubt. A partition that works has waiting if records
	// have waited for longer than two transactions may take, silent if the client does not deliver
	// its records, lost-commits if the database lost commits of it, and handler-running or
	// effect-running if a call has not ended with its context.
	// The service as a whole has not-running, starting, joining, unavailable, topic-missing,
	// credentials if the brokers reject the login, or tls if no TLS connection to them is possible
	// or they require one.
	Code      string
	Topic     string    // "" if the problem is the service's as a whole
	Partition int32     // -1 if the problem is the service's as a whole
	Since     time.Time // when this process first saw it
	Reason    string    // what is wrong, in the words that pages and commands have
	Do        string    // what to do; of a halted partition the command that resumes it
	// Err is Reason as an error, with the topic, the partition and its state. Its chain has the
	// cause, such as a [HaltedError] or a [FencedError].
	Err error
}

// Problems are all problems of a service; it is healthy if there are none. Those
// of the service as a whole come first.
type Problems []Problem

// Err returns an error with one line per problem; nil if there are none. It leaves out partitions
// that an operator paused: they must neither raise an alert nor stop a rollout.
func (p Problems) Err() error {
	var all []error
	for _, problem := range p {
		if problem.Code == string(halt.Paused) {
			continue
		}
		all = append(all, problem.Err)
	}
	return errors.Join(all...)
}
