package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// processes are those of the service.
type processes struct {
	running []*stage.Process // that must live
	started []*stage.Process // ever

	mu      sync.Mutex
	members map[*stage.Process]string // client ids of those that the group may know
}

func newProcesses() *processes { return &processes{members: map[*stage.Process]string{}} }

// add takes a process that was started under a client id.
func (ps *processes) add(q *stage.Process, id string) {
	ps.running = append(ps.running, q)
	ps.started = append(ps.started, q)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.members[q] = id
}

// expel ends the membership of processes that have died a while ago.
func (ps *processes) expel(end func(id string) error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for q, id := range ps.members {
		switch ended := q.EndedAt(); {
		case ended.IsZero() || time.Since(ended) < deadMember:
		case end(id) == nil:
			delete(ps.members, q)
		}
	}
}

// endOf is when the process ended that had a number at a time; zero while it lives. The operating
// system uses numbers again.
func (ps *processes) endOf(pid int, at time.Time) time.Time {
	for _, p := range ps.started {
		if end := p.EndedAt(); p.PID() == pid && (end.IsZero() || !end.Before(at)) {
			return end
		}
	}
	return time.Time{}
}

func (ps *processes) close() error {
	var errs []error
	for _, q := range ps.started {
		errs = append(errs, q.Kill())
	}
	return errors.Join(errs...)
}

// forget takes a process from those that must live.
func (ps *processes) forget(p *stage.Process) {
	for i, q := range ps.running {
		if q == p {
			ps.running = append(ps.running[:i:i], ps.running[i+1:]...)
			return
		}
	}
}

// kill kills a process for good.
func (ps *processes) kill(p *stage.Process) error {
	ps.forget(p)
	return p.Kill()
}

// dead is an error if a process that must live has ended.
func (ps *processes) dead() error {
	for _, p := range ps.running {
		if err := p.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// stopAll ends the processes as a deployment does.
func (ps *processes) stopAll() error {
	var errs []error
	for _, p := range ps.running {
		errs = append(errs, p.Term())
	}
	for _, p := range ps.running {
		errs = append(errs, p.Finish())
	}
	ps.running = nil
	return errors.Join(errs...)
}

// logged counts a text in what all processes ever logged.
func (ps *processes) logged(text string) int {
	n := 0
	for _, p := range ps.started {
		n += p.Log.Count(text)
	}
	return n
}

// says waits until some process logs text.
func (ps *processes) says(ctx context.Context, text string, patience time.Duration) error {
	err := stage.Until(ctx, patience, func() (bool, error) { return ps.logged(text) > 0, nil })
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("no process said %q in %v; last lines:\n%s", text, patience, ps.started[len(ps.started)-1].Log)
	}
	return err
}
