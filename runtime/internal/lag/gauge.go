// Package lag keeps how far one partition is: the position of its ledger, the end of its log, how
// old the first record between the two is, and what became of the records before. Several
// goroutines tell it; a reading is of one moment. It asks nobody. It must not
// import any package of this module but idemtype.
package lag

import (
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// Unknown is an offset that is not known.
const Unknown = -1

// Gauge is how far one partition is.
type Gauge struct {
	mu       sync.Mutex
	known    bool // the position is
	position int64
	end      int64 // 0 while nobody told: no log ends before that
	told     bool
	first    int64     // offset of the oldest record that was handed over and is not durable
	at       time.Time // its timestamp; zero if there is none, or it has none
	behind   time.Time // since when there is more than the position, or since it moved last; zero if there is not
	counts   idemtype.Result
	parked   Parked

	low   int64     // the log held no record below it
	stood time.Time // since when the partition is halted; zero while it is not
	lost  bool      // the position is none of this log's
}

// At tells the ledger's position.
func (g *Gauge) At(position int64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.move(position, now)
}

// Add tells what became of records, and the ledger's position after them.
func (g *Gauge) Add(r idemtype.Result, position int64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts = g.counts.Plus(r)
	g.move(position, now)
}

// Redelivered tells that records were delivered again, which moves nothing.
func (g *Gauge) Redelivered(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts.Duplicates += n
}

// End tells the offset of the next record to come.
func (g *Gauge) End(end int64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end, g.told = end, true
	g.note(now)
}

// Parked is what waits behind dead letters (on_failure.park).
type Parked struct{ Keys, Records int }

// Parked tells what waits behind dead letters.
func (g *Gauge) Parked(p Parked) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.parked = p
}

// Low tells the offset of the first record that the log holds.
func (g *Gauge) Low(low int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.low = low
}

// Stands tells that nobody reads the partition from now on; with lost, that the position is
// none of its log's, which is another one or was cut.
func (g *Gauge) Stands(lost bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost = lost; g.stood.IsZero() {
		g.stood = now
	}
}

// Works tells that the partition does not stand.
func (g *Gauge) Works() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stood, g.lost = time.Time{}, false
}

// First tells which record is the first of those that were handed over and are not durable.
func (g *Gauge) First(offset int64, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first, g.at = offset, at
}

func (g *Gauge) move(position int64, now time.Time) {
	if !g.known || position != g.position {
		g.behind = time.Time{}
	}
	g.position, g.known = position, true
	g.note(now)
}

// note notes since when there is something after the position.
func (g *Gauge) note(now time.Time) {
	switch {
	case !g.known || !g.told || g.end <= g.position:
		g.behind = time.Time{}
	case g.behind.IsZero():
		g.behind = now
	}
}

// Reading is a Gauge at one moment. Offsets and Records are [Unknown] if they are not known.
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
		if !g.stood.IsZero() && !(g.told && g.end <= g.low) { // an empty log has nothing that waits
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
