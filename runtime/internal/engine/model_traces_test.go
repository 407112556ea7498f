package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/internal/proof/model/chain"
	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// These tests play traces of internal/proof/model/chain on the real worker and a real database,
// and compare after every call the chain, what took effect, keys, dead letters, positions, and
// what the caller is told. What the model explores and a caller of the worker cannot steer
// is left to the model, and to TestSchedules, which compares only what is left in the end: two
// statements under way at once (a late one of a worker that is gone, a fence that waits), the
// moment between an append that was refused and the look at the row in its place, lost replies of
// fences and genesis, two workers in their genesis.

// calls are all calls that could be made.
func calls(handlers bool) (all []call) {
	for who := range 2 {
		all = append(all, call{verb: take, who: who}, call{verb: drop, who: who})
		for end := uint8(1); end <= chain.Messages; end++ {
			all = append(all, call{verb: apply_, who: who, end: end})
			for at := uint8(1); at <= 2; at++ {
				all = append(all, call{verb: apply_, who: who, end: end, fault: lost, at: at}, call{verb: apply_, who: who, end: end, fault: killed, at: at})
			}
			for o := uint8(0); handlers && o < end; o++ {
				all = append(all, call{verb: apply_, who: who, end: end, fault: refused, at: o})
			}
		}
	}
	for rows := range uint8(9) {
		all = append(all, call{verb: cut, rows: rows}, call{verb: retain, rows: rows})
	}
	return append(all, call{verb: operate_}, call{verb: pause_})
}

// A worker does what the model does, on long traces at random.
func TestWorkerFollowsTheModelAtRandom(t *testing.T) {
	rig.Lengthy(t)
	const traces, length = 12, 14
	for n, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			th := newTheatre(t, style)
			random := rand.New(rand.NewPCG(4, uint64(n))) // the same in every run
			for range traces {
				th.stage(t).play(wander(random, style, length))
			}
		})
	}
}

// wander is a trace that the model can play.
func wander(random *rand.Rand, s style, length int) (trace []call) {
	c, all := begin(s), calls(s.handlers)
	for tries := 0; len(trace) < length && tries < 50*length; tries++ {
		next := all[random.IntN(len(all))]
		trial := *c
		if _, ok := trial.play(next); ok {
			*c, trace = trial, append(trace, next)
		}
	}
	return trace
}

// goal is a state of interest. Its trace is searched in one style and played in all that can.
type goal struct {
	name    string
	style   int
	reached func(c *course, o outcome) bool
}

const written, handled, firstRefused = 0, 2, 4

var goals = []goal{
	{"an own row is adopted", handled, func(c *course, _ outcome) bool { return c.saw(chain.ReadRow, protocol.Own) }},
	{"an own row of a larger batch is adopted", handled, func(c *course, _ outcome) bool { return c.resized() > 0 }},
	{"an own row of a smaller batch is adopted", handled, func(c *course, _ outcome) bool { return c.resized() < 0 }},
	{"a doubt turns out as rolled back", handled, func(c *course, _ outcome) bool {
		return c.saw(chain.Send, protocol.Connected) && c.saw(chain.Commit, protocol.Acked) && !c.saw(chain.ReadRow, protocol.Own)
	}},
	{"fenced by another", handled, func(c *course, o outcome) bool { return o == gone && c.saw(chain.ReadRow, protocol.Foreign) }},
	{"the row appended to is gone", handled, func(c *course, o outcome) bool { return o == gone && c.saw(chain.Refuse, protocol.Gone) }},
	{"in doubt, and the chain was cut", handled, func(c *course, o outcome) bool {
		return o == gone && c.saw(chain.Send, protocol.Connected) && c.saw(chain.Refuse, protocol.Gone)
	}},
	{"in doubt, and fenced", handled, func(c *course, o outcome) bool {
		return o == gone && c.saw(chain.Send, protocol.Connected) && c.saw(chain.ReadRow, protocol.Foreign)
	}},
	{"committed, then cut, and sent again", handled, func(c *course, _ outcome) bool {
		return c.state.Left[chain.Failovers] < 7 && c.state.Left[chain.Losses] < 7 && c.saw(chain.Commit, protocol.Acked) && c.state.Position() > 0
	}},
	{"a handler's dead letter", handled, func(c *course, _ outcome) bool { return c.last().Dead != 0 }},
	{"the copy of a dead letter takes effect", handled, func(c *course, _ outcome) bool { return c.last().Applied&0b100 != 0 }},
	{"the refused message of a batch is found", firstRefused, func(c *course, _ outcome) bool { return c.state.Position() == chain.Messages }},
	{"a dead letter whose reply was lost is adopted", firstRefused, func(c *course, _ outcome) bool {
		return c.saw(chain.ReadRow, protocol.Own) && c.last().Dead != 0
	}},
	{"retention, and the row appended to is gone", handled, func(c *course, o outcome) bool { return o == gone && c.state.Deleted != 0 }},
	{"the first worker comes back from STANDBY", handled, func(c *course, _ outcome) bool { return c.saw(chain.Move, protocol.Quiet) }},
	{"an operator's row fences", handled, func(c *course, o outcome) bool { return o == gone && c.last().Kind == chain.Operator }},
	{"a partition is found paused, and taken after the resume", handled, func(c *course, _ outcome) bool {
		n := c.state.N
		return n > 3 && c.worker(0).State == protocol.Halted && c.state.Rows[n-3].Kind == chain.Pause && c.state.Rows[n-1].Kind == chain.Fence
	}},
	{"the stream is lost, and made again", written, func(c *course, _ outcome) bool {
		return c.state.Left[chain.Failovers] < 7 && c.saw(chain.SendGenesis, 0)
	}},
}

// last is the chain's last row.
func (c *course) last() chain.Row { return c.state.Rows[max(1, c.state.N)-1] }

// saw reports whether the last call took such a step.
func (c *course) saw(a chain.Act, e protocol.Event) bool {
	for i := range c.steps {
		if c.steps[i].Act == a && c.steps[i].Event == e {
			return true
		}
	}
	return false
}

// resized is by how much a row that the last call found is longer than what was sent.
func (c *course) resized() int {
	for i := range c.steps {
		if x := &c.steps[i]; i > 0 && x.Act == chain.ReadRow && x.Event == protocol.Own && c.steps[i-1].Act == chain.Refuse {
			return int(x.After.Workers[x.Worker].Next) - int(c.steps[i-1].Row.Next)
		}
	}
	return 0
}

// shortest finds the shortest trace to a goal.
func shortest(t *testing.T, g goal) []call {
	type node struct {
		c     *course
		trace []call
	}
	s := styles[g.style]
	all, seen := calls(s.handlers), map[chain.State]bool{}
	for queue := []node{{begin(s), nil}}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for _, next := range all {
			c := *n.c
			c.steps = nil
			o, ok := c.play(next)
			if !ok || seen[c.state] {
				continue
			}
			trace := append(slices.Clone(n.trace), next)
			if g.reached(&c, o) {
				return trace
			}
			seen[c.state] = true
			queue = append(queue, node{&c, trace})
		}
	}
	t.Fatalf("no trace leads to: %s", g.name)
	return nil
}

// finish ends every trace: whoever has the partition, all messages are applied.
var finish = []call{{verb: take, who: 1}, {verb: apply_, who: 1, end: chain.Messages}}

// A worker does what the model does, on the shortest trace to each state of interest.
func TestWorkerFollowsTheModelToStatesOfInterest(t *testing.T) {
	rig.Lengthy(t)
	traces := map[string][]call{}
	for _, g := range goals {
		traces[g.name] = shortest(t, g)
		t.Logf("%s: %v", g.name, traces[g.name])
		traces[g.name] = append(traces[g.name], finish...)
	}
	for _, s := range styles {
		t.Run(s.name, func(t *testing.T) {
			th := newTheatre(t, s)
			for _, g := range goals {
				if playable(s, traces[g.name]) {
					th.stage(t).play(traces[g.name])
				}
			}
			if th.stages < int32(len(goals)/2) {
				t.Errorf("only %d of %d traces could be played", th.stages, len(goals))
			}
		})
	}
}

// playable reports whether the model has a trace in a style.
func playable(s style, trace []call) bool {
	c := begin(s)
	for _, next := range trace {
		if _, ok := c.play(next); !ok {
			return false
		}
	}
	return true
}
