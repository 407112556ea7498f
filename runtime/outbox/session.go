package outbox

import (
	"context"
	"time"
)

// talk is the session in which a lead queries Postgres while events are sent: one query at a time.
type talk struct {
	tenure
	limit   time.Duration   // of an answer
	life    context.Context // of what is asked
	die     context.CancelFunc
	busy    bool // an answer is waited for
	answers chan asked
	heard   time.Time // when that was asked what was answered last: then the session was alive
}

// asked is the answer to what was asked.
type asked struct {
	began time.Time
	take  func() // has the lead know the answer
	err   error
}

func newTalk(t tenure, limit time.Duration) *talk {
	s := &talk{tenure: t, limit: limit, answers: make(chan asked, 1), heard: t.since}
	s.life, s.die = context.WithCancel(context.Background())
	return s
}

// ask asks Postgres. What do returns takes the answer, on the goroutine of the lead.
func (s *talk) ask(do func(ctx context.Context) (take func(), err error)) {
	s.busy = true
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.life, s.limit)
	go func() {
		defer cancel()
		a := asked{began: began}
		defer func() { // end waits for an answer
			if p := recover(); p != nil {
				a.err = panicked("the relay", p)
			}
			s.answers <- a
		}()
		a.take, a.err = do(ctx)
	}()
}

// hear takes an answer.
func (s *talk) hear(a asked) error {
	s.busy = false
	if a.err != nil {
		return a.err
	}
	s.heard = a.began
	a.take()
	return nil
}

// quiet waits for the answer that is not here yet, as long as a context allows.
func (s *talk) quiet(ctx context.Context) error {
	if !s.busy {
		return nil
	}
	defer context.AfterFunc(ctx, s.die)()
	return s.hear(<-s.answers)
}

// end gives up what is asked.
func (s *talk) end() {
	s.die()
	if s.busy {
		<-s.answers
	}
}

// mayBeOver reports whether Postgres may have ended the session, so that another one leads.
// One clock continues while the machine sleeps, and the other one cannot be set.
func (s *talk) mayBeOver() bool {
	return time.Since(s.heard) >= s.limit || time.Now().Round(0).Sub(s.heard.Round(0)) >= s.limit
}
