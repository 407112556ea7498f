package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/effect"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/decide"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// awaitsEffect says that the first record of a batch waits for its effect. Nothing was sent.
type awaitsEffect struct {
	offset int64
	event  string
}

func (e *awaitsEffect) Error() string { return "the effect of a record is not over" }

// cut begins the effects for which records wait, and leaves the records before them. If there are
// none, the transaction is over before it began: while calls run, no connection is held.
func (t *transaction) cut(ctx context.Context, d *decide.Decision) error {
	if t.settles != nil {
		return t.asked(ctx, d)
	}
	t.o.effects.Start(ctx, t.mayBegin(d.Waiting))
	if d.Ready == 0 {
		return &awaitsEffect{d.Waiting[0].Message.Offset, d.Waiting[0].Event}
	}
	t.records, t.end = t.records[:d.Ready], 0
	return nil
}

// mayBegin are the effects that may begin. Where records wait behind a dead letter of their record
// key, one begins once all records of its key before it are passed: until then nobody knows
// whether it has to wait for one of them.
func (t *transaction) mayBegin(waiting []wire.Effect) []wire.Effect {
	first := map[string]int64{} // offset, by record key
	for i := range t.records {
		if m := &t.records[i]; m.Key != nil {
			if _, known := first[string(m.Key)]; !known {
				first[string(m.Key)] = m.Offset
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(waiting), func(e wire.Effect) bool {
		parks := e.Policy.Park || t.o.p.topic.OnFailure.Park
		return parks && e.Message.Key != nil && first[string(e.Message.Key)] != e.Message.Offset
	})
}

// await takes the step of an owner that has nothing to send, and waits for an effect.
func (o *Owner) await(ctx context.Context, e *awaitsEffect) error {
	if err := o.step(protocol.Awaits, nil); err != nil {
		return err
	}
	awaiting(o.p, &awaited{e.offset, "effect " + e.event + ", which runs, or for a process that has its lease"})
	err := o.effects.Wait(ctx, e.offset)
	awaiting(o.p, nil)
	if h, ok := errors.AsType[*verdict.Halt](err); ok {
		return refuse(o, h)
	}
	if err != nil && o.life.quit.Err() != nil {
		return o.ended()
	}
	return err
}

// refuse halts a partition that is READY, since nothing was sent.
func refuse(o *Owner, h *verdict.Halt) error {
	why := o.p.halted(h)
	if err := o.step(protocol.Refused, why); err != nil {
		return err
	}
	return why
}

// desk is where the effects of the transaction's records are. Those of dead letters have one of
// their own: they are behind the position.
func (t *transaction) desk() *effect.Desk {
	if t.settles != nil {
		return t.o.errands.desk
	}
	return t.o.effects
}

// outcomes are the results of effects that are known. A record whose effect was refused becomes a
// dead letter, unless a copy of it took effect meanwhile.
func (t *transaction) outcomes() map[int64]wire.EffectResult {
	results, refused := t.desk().Outcomes()
	for _, r := range refused {
		l, key := deadletter.Of(r.Message, r.Policy, r.Class, r.Event, r.Err), wire.UUID(r.Key)
		l.Key = &key // the person who decides asks the other side by it
		l.Effect = true
		t.o.retry.Refuse(l)
	}
	return results
}

// complete are the statements that complete the leases on which a decision rests. One that is
// outside of Postgres is not completed: the transaction claims its key, or its position.
func complete(o *Owner, d *decide.Decision) []pipeline.Statement {
	var done []lease.Hold
	for _, r := range d.Effects {
		if r.External {
			continue
		}
		done = append(done, lease.Hold{Key: r.Key, Token: r.Token})
	}
	return o.p.process.Leases.Complete(o.p.process.Service.Consumer, done)
}

// newDesk is the desk for the effects of an owner's records. Health says why they make no
// progress.
func newDesk(o *Owner) *effect.Desk {
	return o.p.process.Effects.NewDesk(o.p.id, o.chain.Topic, o.life.quit, func(why error) { tellStore(o, why) })
}

// tellStore says why effects and locks make no progress; nil if they do.
func tellStore(o *Owner, why error) {
	if why != nil {
		why = &verdict.Later{Err: why}
	}
	o.p.tell(o, why)
}
