package confluent

import (
	"errors"
	"math/rand/v2"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
)

// standBy leaves the partition to another owner, or to a person, until the sink says that it
// may be taken over again. If the sink wants a record to wait first, one is read and dropped:
// what counts is that it is there, and the position that the sink tells afterwards is where
// it is read again. It reports false if the partition was given up meanwhile.
func (r *run) standBy(t *tenure, why error) bool {
	if _, halted := errors.AsType[*idem.HaltedError](why); !halted { // which the sink has logged
		r.log.Info("partition stands by", "topic", t.id.Topic, "partition", t.id.Number, "reason", why)
	}
	t.passed.Store(-1)
	r.note(t, note{state: standing})
	turn, ok := r.turn(t)
	for ok && !turn.Now {
		var changed bool
		if ok, changed = r.await(t, turn.At); !changed {
			break
		}
		r.note(t, note{state: standing})
		turn, ok = r.turn(t)
	}
	if ok {
		r.note(t, note{state: taking})
	}
	return ok
}

// turn asks the sink until it answers.
func (r *run) turn(t *tenure) (idem.TakeOver, bool) {
	for pause := r.backoff; ; pause = min(2*pause, r.ceiling) {
		turn, err := r.askTurn(t)
		if err == nil || t.ctx.Err() != nil {
			return turn, t.ctx.Err() == nil
		}
		r.log.Warn("partition cannot be watched; trying again", "topic", t.id.Topic, "partition", t.id.Number, "err", err)
		if !sleep(t.ctx, pause/2+rand.N(pause)) {
			return idem.TakeOver{}, false
		}
	}
}

func (r *run) askTurn(t *tenure) (idem.TakeOver, error) {
	t.asking.Lock()
	defer t.asking.Unlock()
	if err := t.ctx.Err(); err != nil {
		return idem.TakeOver{}, err
	}
	return r.sink.Standby(t.ctx, t.id)
}

// await returns when a record came at or behind a position, or when the sink's turn has
// changed, which it is asked now and then. ok is false if the partition was given up.
func (r *run) await(t *tenure, at idem.Position) (ok, changed bool) {
	select {
	case <-t.came: // of an earlier wait
	default:
	}
	r.note(t, note{state: waiting, at: at})
	look := time.NewTicker(r.idle)
	defer look.Stop()
	for {
		select {
		case <-t.came:
			return true, false
		case <-t.ctx.Done():
			return false, false
		case <-look.C:
			if stands(r.sink.Idle(t.ctx, t.id, -1)) {
				return t.ctx.Err() == nil, true
			}
		}
	}
}

// arrived ends the wait for a record. The polling goroutine calls it.
func (r *run) arrived(t *tenure) {
	t.state = taking
	r.pause(t)
	ring(t.came)
}
