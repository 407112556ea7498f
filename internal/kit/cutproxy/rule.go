package cutproxy

import "bytes"

// Rule is one fault at one moment of a connection. Bytes that pass before that moment arrive;
// those of Match and all after it do not, unless Do says otherwise.
type Rule struct {
	Direction Direction // where the fault happens
	// Armed are bytes that must have passed the other way, on the same connection, since
	// the rule was set. Empty means at once.
	Armed []byte
	// Match are the bytes that fire the rule. If empty, After does.
	Match []byte
	// After is the number of bytes of the direction that arrive before the fault, counted on
	// each connection from the first one that passes under the rule.
	After int
	// Do is what happens. The zero value resets both ends.
	Do Action
}

// Action is what a rule does to a connection.
type Action int

const (
	Reset Action = iota // both ends are reset
	Hang                // the connection stays open and the direction swallows what follows
	Hold                // nothing passes in this direction, the sender waits in the end, until Release
	Flip                // the lowest bit of the first byte is turned; all else arrives
	Last                // what has come so far arrives, also Match and what follows it; then both ends are reset
)

// Executes are the bytes with which a client has a PostgreSQL server execute a prepared
// statement with binary parameters, which preparing it has not. The end of its name will do.
func Executes(statement string) []byte { return []byte(statement + "\x00\x00\x01\x00\x01") }

// AnswerLost is the fault in which a server has executed a prepared statement and is out of its
// transaction again, so that it has committed, and the client never hears of it:
// PostgreSQL's "ready for query, idle" is cut.
func AnswerLost(statement string) Rule {
	return Rule{Direction: Down, Armed: Executes(statement), Match: []byte("Z\x00\x00\x00\x05I")}
}

// CommitAnswerLost is the fault that leaves a PostgreSQL client in doubt: the server has
// committed, and the client never hears of it. It knows commits in the words of pgx.
func CommitAnswerLost() Rule {
	return Rule{Direction: Down, Armed: []byte("commit"), Match: []byte("COMMIT\x00")}
}

// armed is a rule that waits to fire, once, on whichever connection comes first.
type armed struct {
	Rule
	fired chan struct{}
}

// Once sets a rule. The channel is closed when it fires.
func (p *Proxy) Once(r Rule) (fired <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &armed{r, make(chan struct{})}
	p.rules = append(p.rules, a)
	return a.fired
}

// verdict is what happens to a chunk: deliver its first pass bytes, then the fault of rule, if
// any.
type verdict struct {
	pass int
	rule *armed
}

// match finds the first rule that a chunk fires, and removes it; it arms the rules of the
// other direction.
func (l *link) match(d Direction, chunk []byte) verdict {
	p := l.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, r := range p.rules {
		w := l.progressOf(r)
		if r.Direction != d {
			if !w.armed {
				_, w.armed = w.arm.find(r.Armed, chunk)
			}
			continue
		}
		if !w.armed {
			continue
		}
		if at, ok := w.fires(r, chunk); ok {
			p.rules = append(p.rules[:i:i], p.rules[i+1:]...)
			close(r.fired)
			return verdict{at, r}
		}
	}
	return verdict{pass: len(chunk)}
}

// progress is how far a connection has come towards a rule.
type progress struct {
	armed      bool
	arm, match window
	passed     int
}

func (l *link) progressOf(r *armed) *progress {
	w, ok := l.progress[r]
	if !ok {
		w = &progress{armed: len(r.Armed) == 0}
		l.progress[r] = w
	}
	return w
}

// fires tells how much of the chunk arrives if the rule fires in it.
func (w *progress) fires(r *armed, chunk []byte) (pass int, ok bool) {
	if len(r.Match) > 0 {
		return w.match.find(r.Match, chunk)
	}
	pass = r.After - w.passed
	w.passed += len(chunk)
	return pass, pass < len(chunk)
}

// window keeps the end of what has passed, for bytes that two chunks share.
type window struct{ tail []byte }

// find tells where in the chunk the wanted bytes begin, 0 if they began before it.
func (w *window) find(wanted, chunk []byte) (at int, ok bool) {
	seen := append(w.tail, chunk...)
	at = bytes.Index(seen, wanted)
	before := len(w.tail)
	w.tail = append([]byte(nil), seen[max(0, len(seen)-len(wanted)+1):]...)
	return max(0, at-before), at >= 0
}
