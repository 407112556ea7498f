package intake

import (
	"errors"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// standBy waits until the sink permits the partition to be taken over again. If a record must be
// available first, one is read and dropped; it is read again from the position that the sink then
// returns. standBy reports false if the partition was given up.
func (d *Delivery) standBy(why error) bool {
	if _, halted := errors.AsType[*idemtype.HaltedError](why); !halted { // which the sink logs itself
		d.config.Log.Info("partition stands by", "topic", d.Partition.Topic, "partition", d.Partition.Number, "reason", why)
	}
	d.report(Report{State: StandingBy})
	takeOver, ok := d.askStandby()
	for ok && !takeOver.Now {
		var changed bool
		if ok, changed = d.awaitRecord(takeOver.At); !changed {
			break
		}
		d.report(Report{State: StandingBy})
		takeOver, ok = d.askStandby()
	}
	if ok {
		d.report(Report{State: TakingOver})
	}
	return ok
}

// askStandby calls Standby of the sink until it succeeds.
func (d *Delivery) askStandby() (idemtype.TakeOver, bool) {
	for n := 1; ; n++ {
		takeOver, err := d.tryStandby()
		if err == nil || d.life.assigned.Err() != nil {
			return takeOver, d.life.assigned.Err() == nil
		}
		d.config.Log.Warn("the standby of a partition failed; retrying",
			"topic", d.Partition.Topic, "partition", d.Partition.Number, "err", err)
		if !d.backOff(n) {
			return idemtype.TakeOver{}, false
		}
	}
}

func (d *Delivery) tryStandby() (idemtype.TakeOver, error) {
	d.asking.Lock()
	defer d.asking.Unlock()
	if err := d.life.assigned.Err(); err != nil {
		return idemtype.TakeOver{}, err
	}
	return d.config.Sink.Standby(d.life.assigned, d.Partition)
}

// awaitRecord returns when a record has arrived at or after a position, or when the sink's
// permission is no longer valid, which awaitRecord checks from time to time with Idle. ok is false
// if the partition was given up.
func (d *Delivery) awaitRecord(at idemtype.Position) (ok, changed bool) {
	d.arrived.clear() // of an earlier wait
	d.report(Report{State: AwaitingRecord, at: at})
	idle := time.NewTicker(d.config.Idle)
	defer idle.Stop()
	for {
		select {
		case <-d.arrived:
			return true, false
		case <-d.life.assigned.Done():
			return false, false
		case <-idle.C:
			if mustStandBy(d.config.Sink.Idle(d.life.assigned, d.Partition, -1)) {
				return d.life.assigned.Err() == nil, true
			}
		}
	}
}
