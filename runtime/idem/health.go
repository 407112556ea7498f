package idem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/outage"
)

// Health returns the reasons why the service, or an assigned partition, makes no progress. There
// are none while it is healthy. [idemtype.Problems.Err] makes an error of them, with one line per
// reason.
//
// The reasons for the service as a whole are: [Consumer.Run] was not called or has returned; the
// database has not been reached since the start; the broker does not respond or rejects the login
// or the TLS connection, a topic does not exist, or the group has not assigned its partitions, as
// far as the [Source] knows. If a group has more members than partitions, a member without
// partitions is healthy.
//
// For each partition that makes no progress, Health gives its state and the cause: a
// [HaltedError] with its code and remedy, a [FencedError] while another owner has the partition,
// the error for which a batch is retried, or a handler that is still running after its timeout. A
// partition whose records have waited for longer than two transactions may take is reported even
// if the cause is unknown. So is a partition whose records the client does not deliver.
//
// Health is meant for alerts and as a readiness check: a rollout waits until the new process
// works. It is not a liveness check: a restart does not help, since an outage ends by itself, and
// a HALTED partition waits for an operator. A partition that an operator paused is among the
// problems, but not in their Err. Health does no I/O and returns immediately.
func (c *Consumer) Health() idemtype.Problems {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all idemtype.Problems
	if p := c.whole(); p != nil {
		all = append(all, *p)
	}
	whole := len(all)
	for _, partition := range c.assigned {
		if p := partition.Health(time.Now()); p != nil {
			all = append(all, *p)
		}
	}
	if c.process.Calls != nil {
		all = append(all, c.process.Calls.Late()...)
	}
	for i := range all[whole:] {
		p := &all[whole+i]
		if _, named := errors.AsType[*HaltedError](p.Err); !named {
			p.Err = fmt.Errorf("%s/%d: %w", p.Topic, p.Partition, p.Err)
		}
	}
	slices.SortFunc(all[whole:], func(a, b idemtype.Problem) int { return strings.Compare(a.Err.Error(), b.Err.Error()) })
	return all
}

// whole returns why the service as a whole makes no progress; nil while it does.
func (c *Consumer) whole() *idemtype.Problem {
	return cmp.Or(problemOf(&c.run), problemOf(&c.group))
}

// problemOf returns what is wrong; nil if nothing is.
func problemOf(condition *outage.Condition) *idemtype.Problem {
	since, why := condition.Why()
	if why == nil {
		return nil
	}
	r := outage.ReasonOf(why)
	return &idemtype.Problem{Code: r.Code, Partition: -1, Since: since, Reason: why.Error(), Do: r.Do, Err: why}
}

// The reasons of the service itself; those of the group come from the Source.
var (
	errNotRun    = whole("not-running", "call Run", "the service is not started: Run was not called")
	errStarting  = whole("starting", "wait until the database responds", "the service is starting: the database has not been reached yet")
	errEnded     = whole("not-running", "see the error that Run returned, and restart the service", "the service has ended: Run has returned")
	errNotJoined = &outage.Reason{Code: "joining", Do: outage.JoinAdvice, Waits: true, Err: errors.New("the group has not assigned its partitions yet")}
)

func whole(code, do, text string) *outage.Reason {
	return &outage.Reason{Code: code, Do: do, Err: errors.New(text)}
}

// joinPatience is how long a group may take to assign its partitions before that is logged as an
// error: a session of 45 seconds, and some more. Health reports it immediately.
const joinPatience = time.Minute
