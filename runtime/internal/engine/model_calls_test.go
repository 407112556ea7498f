package engine_test

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/proof/model/chain"
	"github.com/idemgen/idemgen/internal/protocol"
)

// call is one thing that is done to the model and to the worker alike.
type call struct {
	verb  verb
	who   int
	end   uint8 // apply: the messages from the worker's position up to here
	rows  uint8 // cut: rows of the chain that are left; retain: rows that go
	fault mishap
	at    uint8 // lost, killed: at which transaction; refused: which message
}

type verb uint8

const (
	take     verb = iota // the partition, from whoever has it
	drop                 // crash, or revoke
	apply_               // messages
	cut                  // failover that loses a suffix
	retain               // a prefix of the chain
	operate_             // append an operator's row
	pause_               // append an operator's pause
)

var verbNames = [...]string{"take", "drop", "apply", "cut", "retain", "operate", "pause"}

type mishap uint8

const (
	fine    mishap = iota
	lost           // the reply to a commit
	killed         // before the commit
	refused        // by a handler
)

var mishapNames = [...]string{"", "reply lost", "killed", "handler refuses"}

func (c call) String() string {
	switch c.verb {
	case cut, retain:
		return fmt.Sprintf("%s %d", verbNames[c.verb], c.rows)
	case operate_, pause_:
		return verbNames[c.verb]
	}
	text := fmt.Sprintf("%s by %d", verbNames[c.verb], c.who)
	if c.verb == apply_ {
		text += fmt.Sprintf(" up to %d", c.end)
	}
	if c.fault != fine {
		text += fmt.Sprintf(", %s %d", mishapNames[c.fault], c.at)
	}
	return text
}

// course is the model driven as the worker is driven: one call after the other, each to its
// end, so that no two statements are under way at once.
type course struct {
	rules    *chain.Rules
	state    chain.State
	handlers bool         // messages are handled, so that a transaction can be ended before its commit
	anywhere bool         // keys are read before a batch is sent
	steps    []chain.Step // of the last call
}

// begin is the state before anything happened, with room for many faults.
func begin(s style) *course {
	c := &course{rules: chain.Protocol(), handlers: s.handlers, anywhere: s.key == ""}
	c.state.Poison = s.poison
	for i := range c.state.Left {
		c.state.Left[i] = 7
	}
	return c
}

// take takes the first step of the model that fits. It reports false if there is none.
func (c *course) take(fits func(*chain.Step) bool) bool {
	steps := c.rules.Steps(&c.state, nil)
	for i := range steps {
		if x := &steps[i]; fits(x) {
			if x.Violation != "" {
				panic(x.Violation) // the model's own tests would have failed
			}
			c.state = x.After
			c.steps = append(c.steps, *x)
			return true
		}
	}
	return false
}

func (c *course) act(a chain.Act, who int) bool {
	return c.take(func(x *chain.Step) bool { return x.Act == a && x.Worker == who })
}

func (c *course) worker(who int) *chain.Worker { return &c.state.Workers[who] }

// outcome is what the caller of the worker sees.
type outcome uint8

const (
	done    outcome = iota
	gone            // FencedError: the worker's memory is discarded
	open            // any other error: the same again later
	stopped         // HaltedError: the partition is paused
)

var outcomeNames = [...]string{"done", "fenced", "to be tried again", "paused"}

func (o outcome) String() string { return outcomeNames[o] }

// play plays one call. It reports false if the model has no such call here.
func (c *course) play(a call) (outcome, bool) {
	c.steps = c.steps[:0]
	if c.state.N >= 9 { // leave room in the model's chain
		return done, false
	}
	switch a.verb {
	case take:
		ok := c.takeOver(a.who)
		if c.worker(a.who).State == protocol.Halted {
			return stopped, ok
		}
		return done, ok
	case drop:
		return done, c.act(chain.Revoke, a.who)
	case apply_:
		return c.apply(a)
	case cut:
		return done, c.state.Deleted == 0 && c.take(func(x *chain.Step) bool { return x.Act == chain.Failover && x.Count == a.rows })
	case retain:
		return done, c.state.Deleted == 0 && c.take(func(x *chain.Step) bool { return x.Act == chain.Retain && x.After.Deleted == 1<<a.rows-1 })
	case pause_:
		return done, c.last().Kind != chain.Pause && c.act(chain.Stop, -1)
	}
	return done, c.act(chain.Operate, -1)
}

func (c *course) takeOver(who int) bool {
	switch s := c.worker(who).State; s {
	case protocol.Fencing:
	case protocol.Standby:
		if !c.take(func(x *chain.Step) bool { return x.Act == chain.Move && x.Worker == who && !x.Fault }) &&
			!c.act(chain.Move, who) {
			return false
		}
	case protocol.Off:
		if !c.act(chain.Assign, who) {
			return false
		}
	default:
		if !c.act(chain.Revoke, who) || !c.act(chain.Assign, who) {
			return false
		}
	}
	for c.worker(who).State == protocol.Fencing {
		if c.last().Kind == chain.Pause {
			return c.act(chain.Move, who)
		}
		if !c.act(chain.SendGenesis, who) && !c.act(chain.SendFence, who) {
			return false
		}
		for c.serve() {
		}
	}
	return c.worker(who).State == protocol.Ready
}

// serve lets the only statement under way take its next step.
func (c *course) serve() bool {
	return c.take(func(x *chain.Step) bool {
		return !x.Fault && (x.Act == chain.Start || x.Act == chain.Insert || x.Act == chain.Commit || x.Act == chain.Refuse)
	})
}

// underWay is the only statement under way.
func (c *course) underWay() *chain.Statement {
	for i := range c.state.Ops {
		if op := &c.state.Ops[i]; op.Stage != chain.None {
			return op
		}
	}
	return nil
}

// apply does what Writer.Apply does: transactions of its own size until the messages are
// applied, it is fenced, or something goes wrong. The call's fault must happen: without it
// this is the same as another call.
func (c *course) apply(a call) (outcome, bool) {
	w := c.worker(a.who)
	if w.State != protocol.Ready && w.State != protocol.Doubt || a.end <= w.Next || a.fault == refused && !c.handlers {
		return done, false
	}
	b := batches{course: c, call: a, hit: a.fault == fine}
	for {
		switch {
		case w.State == protocol.Standby || w.State == protocol.Fencing:
			return gone, b.hit
		case w.Next >= a.end:
			return done, b.hit
		}
		if ended, ok := b.transact(w.Next + size(w.Failing, a.end-w.Next)); ended || !ok {
			return open, ok
		}
		if w.ReadRow {
			c.act(chain.ReadRow, a.who)
		}
	}
}

// batches counts what happens in one call, until its fault does.
type batches struct {
	*course
	call
	tried, committed uint8
	hit              bool
}

// transact runs one transaction with the messages up to end. It reports whether the fault
// ended the call, and false if the model has no such transaction.
func (b *batches) transact(end uint8) (ended, ok bool) {
	b.tried++
	w := b.worker(b.who)
	killedFirst := b.fault == killed && !b.handlers && b.at == b.tried // before anything is sent
	if own := &b.state.Rows[w.Seq+1]; b.anywhere && !killedFirst && own.By != 0 && own.Applied&(1<<end-1) != 0 && b.act(chain.PreRead, b.who) {
		return false, true
	}
	if !b.take(func(x *chain.Step) bool { return x.Act == chain.Send && x.Worker == b.who && x.Row.Next == end }) {
		return false, false
	}
	if killedFirst {
		return true, b.act(chain.Kill, b.who)
	}
	for op := b.underWay(); op != nil; op = b.underWay() {
		if op.Stage != chain.Inserted || op.Row.Applied&(1<<b.state.Poison) != 0 {
			b.serve() // starts, enters the index, is refused
			continue
		}
		switch {
		case b.fault == refused && !b.hit && op.Row.Applied&(1<<b.at) != 0:
			b.hit = b.take(func(x *chain.Step) bool {
				return x.Act == chain.Refuse && x.Event == protocol.Data && x.Count == b.at && x.Fault
			})
			continue
		case b.fault == killed && b.handlers && op.Row.Applied != 0 && b.at == 1:
			return true, b.act(chain.Kill, b.who)
		case b.fault == lost && b.at == b.committed+1:
			return true, b.act(chain.Lose, b.who) && b.serve()
		}
		b.committed++
		b.serve()
	}
	return false, true
}

// size is how many of n messages the worker sends while some fail together.
func size(failing, n uint8) uint8 {
	switch failing {
	case 0:
		return n
	case 1:
		return 1
	}
	return min(n, failing/2)
}
