package operate

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/process"
)

// held makes a problem one of the locks, if a lock is its cause: who holds them, and how to end
// that.
func (s *State) held(p *Problem) {
	outbox := slices.ContainsFunc(s.Locks, func(l Lock) bool { return strings.Contains(l.On, "idem_outbox") })
	relay := outbox && p.Subject == OfRelay && (p.Code == "database" || p.Code == "delete") // it may have waited until its own limit
	if len(s.Locks) == 0 || p.Part == "" && !relay && !strings.Contains(p.Cause, lockState) {
		return
	}
	p.Code, p.State, p.Do = "locked", "LOCKED", "wait until that transaction ends, or end its session"
	for _, l := range s.Locks {
		p.locks = append(p.locks, l.String())
		for _, end := range l.Ends() { // a session may hold several of them
			if !slices.Contains(p.Ways, end) {
				p.Ways = append(p.Ways, end)
			}
		}
	}
}

// byLock makes one problem of all that the same locks cause.
func (s *State) byLock(all []Problem) (kept []Problem) {
	first, waits := map[string]int{}, map[string][]waiting{}
	for _, p := range all {
		of := strings.Join(p.locks, "; ")
		i, known := first[of]
		switch {
		case of == "":
			kept = append(kept, p)
			continue
		case !known:
			first[of] = len(kept)
			kept = append(kept, p)
		default:
			kept[i].add(p)
		}
		switch {
		case p.Part == "streams":
			waits[of] = append(waits[of], waiting{"partition", s.locksOut()}, waiting{"page", 1})
		case p.Part != "":
			waits[of] = append(waits[of], waiting{"page", 1})
		case len(p.Partitions) > 0:
			waits[of] = append(waits[of], waiting{"partition", len(p.Partitions)})
		default:
			waits[of] = append(waits[of], waiting{string(p.Subject), len(p.Processes)})
		}
	}
	for of, i := range first {
		kept[i].Cause, kept[i].Title = of, "a lock holds up "+inAll(waits[of])
	}
	return kept
}

// waiting is how many partitions, processes, relays or pages wait for a lock.
type waiting struct {
	what string
	n    int
}

// inAll counts what waits, such as "2 relays, 4 partitions".
func inAll(all []waiting) string {
	var texts []string
	for _, what := range []string{string(OfProcess), string(OfRelay), "partition"} {
		n := 0
		for _, w := range all {
			if w.what == what {
				n += w.n
			}
		}
		if n > 0 {
			texts = append(texts, count(n, what))
		}
	}
	if slices.Contains(all, waiting{"page", 1}) {
		texts = append(texts, "whoever looks at the service")
	}
	return strings.Join(texts, ", ")
}

// locksOut returns how many partitions wait for a lock, as their processes report.
func (s *State) locksOut() (n int) {
	for _, p := range s.Processes {
		for _, r := range p.Partitions {
			if !p.Silent && strings.Contains(r.Reason, lockState) {
				n++
			}
		}
	}
	return n
}

// add adds what another problem of the same cause is about.
func (p *Problem) add(other Problem) {
	p.Partitions, p.Processes = append(p.Partitions, other.Partitions...), append(p.Processes, other.Processes...)
	if other.Severity.Rank() < p.Severity.Rank() {
		p.Severity = other.Severity
	}
	if !other.Since.IsZero() {
		p.since(other.Since)
	}
	if len(p.Partitions) > 0 {
		p.Subject, p.Consumer = OfPartitions, p.Partitions[0].Consumer
	}
}

// lockState is the SQLSTATE of a statement that gave up its wait for a lock.
const lockState = "SQLSTATE 55P03"

// locked reports whether a partition, or a process, waits for a lock.
func (s *State) locked() bool {
	waits := func(is process.Problem) bool { return strings.Contains(is.Reason, lockState) }
	if slices.ContainsFunc(s.Processes, func(p Process) bool { return !p.Silent && slices.ContainsFunc(p.Problems, waits) }) {
		return true
	}
	return slices.ContainsFunc(s.Streams, func(t Status) bool {
		return t.Reported.Unknown() == "" && strings.Contains(t.Reported.Reason, lockState)
	})
}
