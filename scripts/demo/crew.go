package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// crew are the consumers: processes of the service in one group.
type crew struct {
	launch func(ctx context.Context, database string) (*stage.Process, error)

	mu      sync.Mutex
	members []*place
	turn    int // whose turn it is to suffer
}

// place is one in the crew, and the process that fills it.
type place struct {
	member
	wire     *cutproxy.Proxy // to Postgres
	database string          // by way of it
	process  *stage.Process
	heard    int // of what the process logs
}

// start fills n places. Each has its own way to a database.
func (c *crew) start(ctx context.Context, n int, database string) error {
	for i := range n {
		to, err := url.Parse(database)
		if err != nil {
			return err
		}
		m := &place{member: member{name: fmt.Sprint("consumer ", i+1)}}
		if m.wire, err = cutproxy.New("tcp", to.Host); err != nil {
			return err
		}
		c.members = append(c.members, m)
		to.Host = m.wire.Addr().String()
		m.database = to.String()
		if err := c.fill(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// fill starts a process.
func (c *crew) fill(ctx context.Context, m *place) error {
	p, err := c.launch(ctx, m.database)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m.process, m.pid, m.is, m.heard = p, p.PID(), running, 0
	return nil
}

// choose finds the next consumer that runs and is at work, and gives it another condition; nil if
// there is none.
func (c *crew) choose(works func(pid int) bool, to condition) *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range c.members {
		m := c.members[c.turn%len(c.members)]
		c.turn++
		if m.is == running && works(m.pid) {
			m.is = to
			return m
		}
	}
	return nil
}

// thaw lets a frozen consumer go on.
func (c *crew) thaw(m *place) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.is = running
	return m.process.Thaw()
}

// report is the condition of each member, and what they logged since the last report. A process
// that ended although nobody asked it to is an error.
func (c *crew) report() (all []member, lines map[string][][]byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines = map[string][][]byte{}
	for _, m := range c.members {
		all = append(all, m.member)
		log := m.process.Log.All()
		if end := bytes.LastIndexByte(log, '\n') + 1; end > m.heard {
			lines[m.name] = bytes.Split(log[m.heard:end-1], []byte("\n"))
			m.heard = end
		}
		if m.is == running {
			err = errors.Join(err, m.process.Dead())
		}
	}
	return all, lines, err
}

// stop ends the consumers as a deployment does.
func (c *crew) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, m := range c.members {
		errs = append(errs, m.process.Stop())
		m.is = stopped
	}
	return errors.Join(errs...)
}

// close ends those that are left.
func (c *crew) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, m := range c.members {
		if m.process != nil {
			errs = append(errs, m.process.Kill())
		}
		errs = append(errs, m.wire.Close())
	}
	return errors.Join(errs...)
}
