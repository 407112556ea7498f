package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// seat is an owner's part for one partition.
type seat struct {
	owner   int
	at      int32 // partition
	writer  *rig.Writer
	fence   int64 // the writer's
	task    *task
	done    func() // what the end of the task means
	crashed bool
}

func (p *seat) name() string { return fmt.Sprintf("%c%d", 'A'+p.owner, p.at) }

// deliver lets a request arrive.
func (s *simulation) deliver(who string, l *link) {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	s.note("%s > %s", who, l.text)
	if err := l.deliver(); err != nil {
		s.t.Fatal(err)
	}
}

// answer hands the answer over that a task waits for.
func (s *simulation) answer(p *seat) {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	l := p.task.link
	s.note("%s <", p.name())
	l.inbox, l.answer = append(l.inbox, l.answer...), nil
	s.n.running = p.task
	p.task.link, l.user = nil, nil
	s.n.changed.Broadcast()
}

// end ends the transaction of a client that is gone.
func (s *simulation) end(l *link) {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	s.note("the end of a link, %c", l.s.status)
	l.end()
}

// commits reports whether the seat waits for the answer to a request that appends or commits.
func (p *seat) commits() bool {
	return p.task != nil && (strings.Contains(p.task.link.text, "append") || strings.Contains(p.task.link.text, "COMMIT"))
}

// run begins a call of an owner.
func (s *simulation) run(p *seat, name string, call func(context.Context) error, done func(error)) {
	s.note("%s %s", p.name(), name)
	task := &task{}
	p.task = task
	s.n.mu.Lock()
	s.n.running = task
	s.n.mu.Unlock()
	var err error
	p.done = func() {
		if err != nil {
			s.note("%s: %v", p.name(), err)
		}
		done(err)
	}
	go func() {
		err = call(context.Background())
		s.n.mu.Lock()
		defer s.n.mu.Unlock()
		task.over = true
		s.n.changed.Broadcast()
	}()
}

// start returns how the next call of an idle owner begins; nil if there is none. A partition that
// the other one has is seldom taken.
func (s *simulation) start(p *seat) func() {
	log := s.log[p.at]
	idle := p.writer == nil
	for _, o := range s.seats {
		idle = idle && (o.at != p.at || o.writer == nil && o.task == nil)
	}
	switch takes := s.takes > 0 && (idle || s.random.IntN(10) == 0); {
	case takes:
		return func() { s.takes--; s.take(p) }
	case p.writer == nil || p.writer.Next() >= int64(len(log)):
		return nil
	}
	return func() {
		from := p.writer.Next()
		s.apply(p, max(0, from-s.random.Int64N(3)), from+1+s.random.Int64N(int64(len(log))-from))
	}
}

func (s *simulation) take(p *seat) {
	p.writer = nil
	var w *rig.Writer
	s.run(p, "takes the partition", func(ctx context.Context) (err error) {
		w, err = s.owners[p.owner].Own(ctx, rig.Topic, p.at, 0)
		return err
	}, func(err error) {
		if err == nil && !p.crashed {
			p.writer = w
			_, _, p.fence = w.Tail()
		}
		s.ended(p, err)
	})
}

// apply applies the records from one offset to another.
func (s *simulation) apply(p *seat, from, to int64) {
	var batch []idem.Message
	for i := range s.log[p.at][from:to] {
		batch = append(batch, s.log[p.at][from:to][i].message())
	}
	w := p.writer
	s.run(p, fmt.Sprintf("applies %d to %d", from, to), func(ctx context.Context) error {
		_, err := w.Apply(ctx, batch)
		return err
	}, func(err error) {
		if err == nil && s.count(p.at, `max(l.next)`, 0) < to {
			s.complain("%s reports %d as applied, which is not in the chain", p.name(), to)
		}
		if _, fenced := errors.AsType[*idem.FencedError](err); fenced {
			if s.count(p.at, `count(*) FILTER (WHERE l.kind <> 'b' AND l.seq > $2)`, p.fence) == 0 {
				s.complain("%s is fenced by nobody", p.name())
			}
			p.writer = nil
		}
		s.ended(p, err)
	})
}

// ended ends a call.
func (s *simulation) ended(p *seat, err error) {
	if _, halted := errors.AsType[*idem.HaltedError](err); halted {
		s.complain("%s halted: %v", p.name(), err)
		p.writer = nil
	}
	if p.crashed {
		p.writer, p.crashed = nil, false
	}
}

// count counts something of a partition's chain.
func (s *simulation) count(at int32, what string, seq int64) (n int64) {
	each(s.t, s.db, []any{&n}, func() {}, `SELECT coalesce(`+what+`, 0) FROM idem_stream s JOIN idem_ledger l USING (stream) WHERE s.partition = $1 AND $2 >= 0`, at, seq)
	return n
}
