package idem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Health returns nil while the service runs and every assigned partition makes progress.
// Otherwise its error has one line per reason.
//
// The reasons for the service as a whole are: [Consumer.Run] was not called or has returned; the
// database has not been reached since the start; the broker does not respond, a topic does not
// exist, or the group has not assigned its partitions, as far as the [Source] knows. If a group
// has more members than partitions, a member without partitions is healthy.
//
// For each partition that makes no progress, the error gives its state and the cause: a
// [HaltedError] with its code and remedy, a [FencedError] while another owner has the partition,
// the error for which a batch is retried, or a handler that is still running after its timeout. A
// partition whose records have waited for longer than two transactions may take is reported even
// if the cause is unknown. So is a partition whose records the client does not deliver.
//
// Health is meant for alerts and as a readiness check: a rollout waits until the new process
// works. It is not a liveness check: a restart does not help, since an outage ends by itself, and
// a HALTED partition waits for an operator. Health does no I/O and returns immediately.
func (c *Consumer) Health() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	if why := c.run.Why(); why != nil {
		errs = append(errs, why)
	} else if why := c.group.Why(); why != nil {
		errs = append(errs, why)
	}
	whole := len(errs)
	for id, p := range c.assigned {
		err := p.Health(time.Now())
		if err == nil {
			continue
		}
		if _, named := errors.AsType[*HaltedError](err); !named {
			err = fmt.Errorf("%s/%d: %w", id.Topic, id.Number, err)
		}
		errs = append(errs, err)
	}
	if c.process.Calls != nil {
		errs = append(errs, c.process.Calls.Late()...)
	}
	slices.SortFunc(errs[whole:], func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

var (
	errNotRun    = errors.New("the service is not started: Run was not called")
	errStarting  = errors.New("the service is starting: the database has not been reached yet")
	errEnded     = errors.New("the service has ended: Run has returned")
	errNotJoined = errors.New("the group has not assigned its partitions yet")
)

// joinPatience is how long a group may take to assign its partitions before that is logged as an
// error: a session of 45 seconds, and some more. Health reports it immediately.
const joinPatience = time.Minute
