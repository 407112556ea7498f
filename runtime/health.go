package idem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Health returns nil while the service runs and every assigned partition makes progress. Else
// its error has one line per reason.
//
// Of the service as a whole: [Consumer.Run] was not called or has ended; the database was not
// reached since the start; the broker does not answer, a topic does not exist, or the group
// has not shared its partitions out, as far as the [Source] tells. A member of a group that
// has more members than partitions is healthy, and has none.
//
// Of each partition that makes no progress, its state and why: a [HaltedError] with its code
// and remedy, a [FencedError] while another owner has it, the error for which a batch is tried
// again, a handler that still runs although its time is over. A partition whose records wait
// for longer than two transactions may take is named although nothing says why, and so is one
// whose records the client does not hand over.
//
// It is meant for alerts and for readiness: a rollout waits until the new process works. It
// is no liveness check, because a restart cures none of these: an outage ends by itself, and
// a partition that is HALTED waits for a person. It asks nobody and returns at once.
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
	errStarting  = errors.New("the service starts: the database was not reached yet")
	errEnded     = errors.New("the service has ended: Run has returned")
	errNotJoined = errors.New("the group has not shared its partitions out yet")
)

// joinPatience is how long a group may take to share its partitions out before the log calls it an
// error: a session of 45 seconds, and some more. Health says so at once.
const joinPatience = time.Minute
