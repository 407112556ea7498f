package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// act is what a key does.
type act struct {
	key   rune
	label string
	do    func(*show, context.Context) error
}

const quit = 'q'

var acts = []act{
	{'k', "kill", (*show).kill},
	{'f', "freeze", (*show).freeze},
	{'c', "cut reply", (*show).cut},
	{'d', "duplicates", (*show).repeat},
	{'p', "poison", (*show).poison},
	{'s', "stop Postgres", (*show).stopPostgres},
}

// press does what a key asks for, beside what other keys asked for.
func (s *show) press(ctx context.Context, key rune) {
	for _, a := range acts {
		if a.key == key {
			s.acting.Go(func() {
				if err := a.do(s, ctx); err != nil && ctx.Err() == nil {
					s.fail(fmt.Errorf("%s: %w", a.label, err))
				}
			})
		}
	}
}

// choose finds a consumer to which a key can do something, and gives it another condition; nil if
// there is none.
func (s *show) choose(key rune, to condition) *place {
	m := s.crew.choose(s.board.read().owns, to)
	if m == nil {
		s.board.say(key, "no consumer is at work")
	}
	return m
}

// kill is kill -9 of a consumer, and what a supervisor does then.
func (s *show) kill(ctx context.Context) error {
	m := s.choose('k', killed)
	if m == nil {
		return nil
	}
	s.board.say('k', "kill -9 of %s, process %d", m.name, m.pid)
	if err := m.process.Kill(); err != nil {
		return err
	}
	if err := stage.Pause(ctx, glance); err != nil {
		return err
	}
	if err := s.crew.fill(ctx, m); err != nil {
		return err
	}
	s.board.say(0, "%s is started again, process %d", m.name, m.pid)
	return nil
}

const (
	glance   = time.Second      // in which one can see what has become
	patience = 10 * time.Second // for a commit, and for others to take over
)

// freeze stops a consumer whose commit is on its way. When others have its partitions, the commit
// arrives, and then it goes on itself.
func (s *show) freeze(ctx context.Context) error {
	m := s.choose('f', frozen)
	if m == nil {
		return nil
	}
	held := m.wire.Once(cutproxy.Rule{Direction: cutproxy.Up, Match: cutproxy.Executes("_append"), Do: cutproxy.Hold})
	happens(ctx, held, patience)
	s.board.say('f', "SIGSTOP of %s, its commit on the way", m.name)
	err := m.process.Freeze()
	if err == nil {
		err = s.without(ctx, m.pid)
	}
	refused := m.wire.Once(cutproxy.Rule{Direction: cutproxy.Down, Match: []byte("idem_ledger_pkey")})
	go func() {
		<-held
		m.wire.Release()
	}()
	if happens(ctx, refused, 2*glance) {
		s.board.say(0, "the commit of %s arrives; Postgres refuses it: it is fenced", m.name)
	}
	s.board.say(0, "SIGCONT of %s", m.name)
	return errors.Join(err, s.crew.thaw(m))
}

// without waits until all partitions have other owners than a process, and for a moment more.
func (s *show) without(ctx context.Context, pid int) error {
	err := stage.Until(ctx, patience, func() (bool, error) {
		return !s.board.read().owns(pid), nil
	})
	if err == nil || errors.Is(err, stage.ErrTimeout) {
		err = stage.Pause(ctx, glance)
	}
	return err
}

// happens waits for something.
func happens(ctx context.Context, what <-chan struct{}, patience time.Duration) bool {
	select {
	case <-what:
		return true
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return false
}

// cut loses the reply to the next commit of a consumer on its way.
func (s *show) cut(ctx context.Context) error {
	m := s.choose('c', running)
	if m == nil {
		return nil
	}
	if happens(ctx, m.wire.Once(cutproxy.AnswerLost("_append")), patience) {
		s.board.say('c', "the reply to a commit of %s is cut: did it take place?", m.name)
	} else {
		s.board.say('c', "there was no commit")
	}
	return nil
}

// copies are sent at once.
const copies = 300

// repeat sends old records again, from all of the log.
func (s *show) repeat(ctx context.Context) error {
	log, _, _ := s.producer.acknowledged()
	old := keyed(log)
	n := min(copies, len(old))
	var again []shop.Entry
	for i := range n {
		again = append(again, shop.Entry{Message: shop.Again(old[i*len(old)/n].Message), Cause: shop.Old})
	}
	s.board.say('d', "%d old records are sent again", n)
	return s.producer.send(ctx, func(*shop.Maker) []shop.Entry { return again })
}

// poison sends a record that no consumer can apply, another one each time.
func (s *show) poison(ctx context.Context) error {
	err := s.producer.send(ctx, func(m *shop.Maker) []shop.Entry {
		s.poisoned++
		e := m.Broken(s.poisoned)
		s.board.say('p', "a record that is no event: %q", e.Message.Value)
		return []shop.Entry{e}
	})
	return err
}

// stopPostgres is kill -9 of the server and of all its sessions. It comes back.
func (s *show) stopPostgres(ctx context.Context) error {
	if !s.outage.TryLock() {
		return nil
	}
	defer s.outage.Unlock()
	s.board.say('s', "Postgres is killed, in the middle of everything")
	if err := s.postgres.Crash(); err != nil {
		return err
	}
	if err := stage.Pause(ctx, 2*time.Second); err != nil {
		return err
	}
	if err := s.postgres.Restart(); err != nil {
		return err
	}
	s.board.say(0, "Postgres is back")
	return nil
}
