package redislease

import (
	"errors"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
)

// reply reads the strings that a script returned, one after another. wrong is the last error;
// check it after reading all of them.
type reply struct {
	values []any
	wrong  error
}

var errReply = errors.New("redislease: a script returned an unexpected reply")

// next returns the next value, or nil if it is missing.
func (r *reply) next() any {
	if len(r.values) == 0 {
		r.wrong = errReply
		return nil
	}
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

func (r *reply) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.wrong = errReply
	}
	return s
}

func (r *reply) number() int64 {
	n, err := strconv.ParseInt(r.text(), 10, 64)
	if err != nil {
		r.wrong = errReply
	}
	return n
}

// is reads one of two words, and reports whether it is the first.
func (r *reply) is(yes, no string) bool {
	word := r.text()
	if word != yes && word != no {
		r.wrong = errReply
	}
	return word == yes
}

// broken reads the first strings: ok, or broken and what is wrong with the lease.
func (r *reply) broken() (what string, is bool) {
	if !r.is("broken", "ok") || r.wrong != nil {
		return "", false
	}
	return r.text(), true
}

func (r *reply) held() bool { return r.is("held", "lost") }

func (r *reply) answer() (a lease.Answer) {
	if state := r.text(); len(state) == 1 {
		a.State = lease.State(state[0])
	} else {
		r.wrong = errReply
	}
	a.Got = r.is("own", "other") && a.State == lease.Processing
	a.Content = lease.Content{Def: uint32(r.number()), Print: uint32(r.number())}
	a.Token = r.number()
	a.Attempts = int(r.number())
	a.Error = r.text()
	a.Wait = max(0, time.Duration(r.number())*time.Microsecond)
	if a.Stale = r.is("stale", "current"); a.Stale {
		a.Got = false
	}
	a.Holder = r.text()
	if result, ok := r.next().(string); ok {
		a.Result = []byte(result)
	}
	return a
}
