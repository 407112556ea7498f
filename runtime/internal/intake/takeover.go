package intake

import (
	"errors"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// takeOver queries the broker and calls Assigned of the sink to learn where to read. It retries
// after transient errors.
func (d *Delivery) takeOver() (idemtype.Position, error) {
	logged := ""
	for n := 1; ; n++ {
		at, err := d.tryTakeOver()
		if err == nil || mustStandBy(err) || d.life.assigned.Err() != nil {
			return at, err
		}
		if err.Error() != logged {
			logged = err.Error()
			d.config.Log.Warn("partition cannot be taken over yet; retrying",
				"topic", d.Partition.Topic, "partition", d.Partition.Number, "err", err)
		}
		if !d.backOff(n) {
			return at, d.life.assigned.Err()
		}
	}
}

func (d *Delivery) tryTakeOver() (idemtype.Position, error) {
	a, err := d.config.Describe(d.life.assigned, d.Partition)
	if err != nil {
		return idemtype.Position{}, err
	}
	d.asking.Lock()
	defer d.asking.Unlock()
	if err := d.life.assigned.Err(); err != nil {
		return idemtype.Position{}, err
	}
	a.Older = d.older.Swap(nil)
	d.topic, d.leader = Topic{ID: a.TopicID, Partitions: a.Partitions}, -1
	if a.Last != nil {
		// This comes before the sink compares the position with the log. If the epoch is unknown,
		// the partition is taken over again at the next epoch that is higher than the position's.
		if last, err := a.Last(d.life.assigned); err == nil {
			d.leader = last.Epoch
		}
	}
	return d.config.Sink.Assigned(d.life.assigned, a)
}

// mustStandBy reports whether Standby of the sink must be called.
func mustStandBy(err error) bool {
	_, halted := errors.AsType[*idemtype.HaltedError](err)
	_, fenced := errors.AsType[*idemtype.FencedError](err)
	return halted || fenced
}
