package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// state is what the screen shows. Its figures are what Postgres, the broker and the operating
// system say when they are asked, not what this program counts; the exception is again.
type state struct {
	clock      time.Duration // since the show began
	partitions []partition
	consumers  []member
	pages      string // address of the web pages; "" if there are none
	outage     string // why Postgres does not answer; "" if it does
	figures
	events []event // what happened, the newest last
}

// partition is one of the topic.
type partition struct {
	end      int64  // of the log, says the broker
	position int64  // of the consumer, says its ledger
	owner    member // who took it over last, says the ledger
	logged   logged
}

// logged is what a consumer logged last about a partition.
type logged struct {
	pid   int
	state string
	why   string // why the partition makes no progress; "" if it does
}

// member is a consumer of the group.
type member struct {
	name string
	pid  int
	is   condition
}

// condition is what the operating system does with a process.
type condition string

const (
	running condition = "running"
	frozen  condition = "frozen"
	killed  condition = "killed"
	stopped condition = "stopped"
)

// figures are measured together, each second.
type figures struct {
	at            time.Duration
	produced      int64 // records in the log
	again         int64 // of them, copies that the broker acknowledged to the producer
	effects       int64 // in the journal
	letters       int64
	recognized    int64 // records passed that had no effect and are no dead letters
	lost, doubled int   // effects and dead letters, says the audit
	rows          int64 // of the service's tables
	second        struct{ produced, rows float64 }
}

// event is something that happened.
type event struct {
	at   time.Duration
	key  rune // that made it happen; 0 is none
	text string
}

// mostEvents are kept.
const mostEvents = 60

// board holds the state for those who measure, act and draw.
type board struct {
	began time.Time
	mu    sync.Mutex
	state state
}

func (b *board) change(do func(s *state)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(&b.state)
}

// now is how long the show has gone on.
func (b *board) now() time.Duration { return time.Since(b.began) }

// say adds an event.
func (b *board) say(key rune, format string, args ...any) {
	e := event{b.now(), key, fmt.Sprintf(format, args...)}
	b.change(func(s *state) {
		s.events = append(s.events[max(0, len(s.events)-mostEvents+1):], e)
	})
}

// read is the state as it is now.
func (b *board) read() state {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.clock = time.Since(b.began)
	s.partitions, s.consumers, s.events = slices.Clone(s.partitions), slices.Clone(s.consumers), slices.Clone(s.events)
	return s
}

// lag is how many records wait.
func (s state) lag() (n int64) {
	for _, p := range s.partitions {
		n += p.end - p.position
	}
	return n
}

// member returns the consumer that is this process, and nil if it was killed or has ended.
func (s state) member(pid int) *member {
	i := slices.IndexFunc(s.consumers, func(m member) bool { return m.pid == pid && (m.is == running || m.is == frozen) })
	if i < 0 {
		return nil
	}
	return &s.consumers[i]
}

// owner returns the consumer that owns a partition, nil if none does, and the one that takes it
// over, if there is one: the owner was killed, it froze, or the group has withdrawn the partition.
func (s state) owner(p partition) (is, next *member) {
	is = s.member(p.owner.pid)
	switch other := p.logged.pid != p.owner.pid; {
	case other && (p.logged.state == "FENCING" || p.logged.state == "READY"):
		return is, s.member(p.logged.pid)
	case !other && p.logged.state == "OFF":
		return nil, nil
	}
	return is, nil
}

// waits are the partitions that make no progress, by the reason that their consumer logs.
func (s state) waits() map[string][]int {
	waits := map[string][]int{}
	for i, p := range s.partitions {
		is, _ := s.owner(p)
		speaks := is == nil || p.logged.pid == is.pid
		if p.logged.why != "" && speaks && s.member(p.logged.pid) != nil {
			waits[p.logged.why] = append(waits[p.logged.why], i)
		}
	}
	return waits
}

// owns reports whether a process is the owner of a partition.
func (s state) owns(pid int) bool {
	return slices.ContainsFunc(s.partitions, func(p partition) bool { return p.owner.pid == pid })
}
