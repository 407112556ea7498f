// Package lag measures one partition: the position of its ledger, the end of its log, the age of
// the first record between the two, and the outcomes of the records before. Several goroutines
// update it, and a reading is from one moment. It makes no queries. It must not import any package
// of this module but idemtype.
package lag

import (
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Unknown is an unknown offset.
const Unknown = -1

// Gauge measures the progress of one partition.
type Gauge struct {
	mu       sync.Mutex
	known    bool // the position is known
	position int64
	end      int64 // 0 while unknown: no log ends below 0
	told     bool
	first    int64     // offset of the oldest delivered record that is not durable
	at       time.Time // its timestamp; zero if there is no record, or it has none
	behind   time.Time // since when the log extends beyond the position, or the position last moved; zero if it does not
	counts   idemtype.Result
	parked   Parked

	seen           time.Time // all records that were appended before then are below the position; zero if unknown
	marks          []mark    // ends of the log that the position has not reached, oldest first
	every, passing int       // of so many ends one is kept; ends since the last one that is

	low   int64     // the log had no record below it
	stood time.Time // since when the partition is halted; zero while it is not
	lost  bool      // the position does not belong to this log
}

// At sets the ledger's position.
func (g *Gauge) At(position int64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(position, now)
}

// Add adds outcomes of records, and sets the ledger's position after them.
func (g *Gauge) Add(r idemtype.Result, position int64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts = g.counts.Plus(r)
	g.move(position, now)
}

// Redelivered counts records that were delivered again; the position stays.
func (g *Gauge) Redelivered(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Duplicates += n
}

// End sets the offset of the next record to be written. All records that were appended before
// after are below it; a zero after says nothing.
func (g *Gauge) End(end int64, after, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end, g.told = end, true
	g.mark(end, after)
	g.note(now)
}

// Parked counts what is parked behind dead letters (on_failure.park).
type Parked struct{ Keys, Records int }

// Parked sets the counts of what is parked behind dead letters.
func (g *Gauge) Parked(p Parked) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parked = p
}

// Low sets the offset of the first record in the log.
func (g *Gauge) Low(low int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.low = low
}

// Stands records that the partition is halted. lost means that the position does not belong to its
// log, which is another one or was truncated.
func (g *Gauge) Stands(lost bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost = lost; g.stood.IsZero() {
		g.stood = now
	}
}

// Works records that the partition is not halted.
func (g *Gauge) Works() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stood, g.lost = time.Time{}, false
}

// First sets the first delivered record that is not durable.
func (g *Gauge) First(offset int64, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first, g.at = offset, at
}

func (g *Gauge) move(position int64, now time.Time) {
	if position != g.position {
		g.behind = time.Time{}
	}
	if position < g.position { // it went back: what it had seen is read again
		g.seen, g.marks = time.Time{}, nil
	}
	g.position, g.known = position, true
	g.reach()
	g.note(now)
}

// note updates since when the log extends beyond the position.
func (g *Gauge) note(now time.Time) {
	switch {
	case !g.known || g.end <= g.position:
		g.behind = time.Time{}
	case g.behind.IsZero():
		g.behind = now
	}
}

// Reading contains the values of a Gauge at one moment. Unknown offsets and Records are [Unknown].
type Reading struct {
	Position int64
	End      int64
	Records  int64 // from the position to the end
	// Age is that of the oldest of them, and never less than the time since it was noticed. If the
	// partition is halted, and it is not known whether records wait, it is the time since then.
	Age    time.Duration
	Counts idemtype.Result
	Parked Parked
}

// Read reads the gauge.
func (g *Gauge) Read(now time.Time) Reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := Reading{Position: Unknown, End: Unknown, Records: Unknown, Counts: g.counts, Parked: g.parked}
	if g.known {
		r.Position = g.position
	}
	if g.told {
		r.End = g.end
	}
	if !g.known || !g.told || g.lost {
		if !g.stood.IsZero() && !(g.told && g.end <= g.low) { // in an empty log no record waits
			r.Age = max(0, now.Sub(g.stood))
		}
		return r
	}
	r.Records = max(0, g.end-g.position)
	if g.behind.IsZero() {
		return r
	}
	r.Age = max(0, now.Sub(g.behind))
	if g.first >= g.position && !g.at.IsZero() {
		r.Age = max(r.Age, now.Sub(g.at)) // a timestamp may be in the future
	}
	return r
}
