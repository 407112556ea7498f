package chain

import "github.com/idemgen/idemgen/internal/protocol"

// packed is a state in as few bits as it takes.
type packed [11]uint64

// codec walks through the fields of a state, either way.
type codec struct {
	bits  *packed
	at    uint
	write bool
}

func pack(s *State) (p packed) {
	c := codec{bits: &p, write: true}
	c.state(s)
	return p
}

func unpack(p packed) (s State) {
	c := codec{bits: &p}
	c.state(&s)
	return s
}

// number codes a field of so many bits.
func number[T ~uint8 | ~uint16](c *codec, v *T, width uint) {
	word, shift := c.at/64, c.at%64
	c.at += width
	if c.write {
		if uint64(*v)>>width != 0 {
			panic("model: a number is too large for its field")
		}
		c.bits[word] |= uint64(*v) << shift
		if shift+width > 64 {
			c.bits[word+1] |= uint64(*v) >> (64 - shift)
		}
		return
	}
	x := c.bits[word] >> shift
	if shift+width > 64 {
		x |= c.bits[word+1] << (64 - shift)
	}
	*v = T(x & (1<<width - 1))
}

func flag(c *codec, v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	number(c, &n, 1)
	*v = n == 1
}

// The widths of fields.
const (
	seqBits    = 4
	tokenBits  = 5
	offsetBits = 2
	setBits    = Messages
	workerBits = 2
)

func (c *codec) state(s *State) {
	flag(c, &s.Stream)
	number(c, &s.N, seqBits)
	for i := range s.N {
		c.row(&s.Rows[i])
	}
	number(c, &s.Deleted, maxRows)
	number(c, &s.Retained, seqBits)
	number(c, &s.Loose, setBits)
	for i := range s.Ops {
		if c.statement(&s.Ops[i]); s.Ops[i].Stage == None {
			break
		}
	}
	for i := range s.Workers {
		c.worker(&s.Workers[i])
	}
	number(c, &s.Poison, offsetBits)
	for i := range s.Left {
		number(c, &s.Left[i], faultBits)
	}
	number(c, &s.tokens, tokenBits)
}

func (c *codec) row(r *Row) {
	number(c, &r.Kind, 3)
	number(c, &r.Token, tokenBits)
	number(c, &r.Next, offsetBits)
	number(c, &r.Applied, setBits)
	number(c, &r.Dead, setBits)
	number(c, &r.By, workerBits)
}

func (c *codec) statement(op *Statement) {
	if number(c, &op.Stage, 2); op.Stage == None {
		return
	}
	number(c, &op.Wait, workerBits)
	number(c, &op.Seq, seqBits)
	number(c, &op.Pred, tokenBits)
	number(c, &op.Prev, offsetBits)
	c.row(&op.Row)
}

func (c *codec) worker(w *Worker) {
	number(c, &w.State, 3)
	flag(c, &w.Loaded)
	flag(c, &w.ReadRow)
	number(c, &w.Keys, setBits)
	if !hasMemory(w.State) {
		return
	}
	number(c, &w.Seq, seqBits)
	number(c, &w.Token, tokenBits)
	number(c, &w.Next, offsetBits)
	for i := range w.Attempts {
		a := &w.Attempts[i]
		if number(c, &a.Token, tokenBits); a.Token == 0 {
			break
		}
		number(c, &a.Next, offsetBits)
		number(c, &a.Applied, setBits)
		number(c, &a.Dead, setBits)
	}
	number(c, &w.Failing, offsetBits)
	number(c, &w.Refused, setBits)
}

// hasMemory reports whether a worker in a state has a memory.
func hasMemory(s protocol.State) bool {
	switch s {
	case protocol.Ready, protocol.Sent, protocol.Doubt, protocol.Backoff:
		return true
	}
	return false
}
