package lag

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func check(t *testing.T, what string, g *Gauge, minutes int, want Reading) {
	t.Helper()
	if got := g.Read(at(minutes)); got != want {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

func TestAgeIsThatOfTheOldestRecord(t *testing.T) {
	g := &Gauge{}
	check(t, "nothing is known", g, 0, Reading{Position: Unknown, End: Unknown, Records: Unknown})
	g.End(10, time.Time{}, at(0))
	check(t, "no position", g, 0, Reading{Position: Unknown, End: 10, Records: Unknown})
	g.At(4, at(1))
	check(t, "the record was not handed over", g, 5, Reading{Position: 4, End: 10, Records: 6, Age: 4 * time.Minute})
	g.First(4, at(-60))
	check(t, "handed over", g, 5, Reading{Position: 4, End: 10, Records: 6, Age: 65 * time.Minute})
	g.Add(idemtype.Result{Applied: 2, Dead: 1}, 7, at(6))
	check(t, "behind it", g, 8, Reading{Position: 7, End: 10, Records: 3, Age: 2 * time.Minute, Counts: idemtype.Result{Applied: 2, Dead: 1}})
	g.First(7, at(20))
	check(t, "a clock ahead of ours", g, 8, Reading{Position: 7, End: 10, Records: 3, Age: 2 * time.Minute, Counts: idemtype.Result{Applied: 2, Dead: 1}})
	g.Redelivered(5)
	g.Add(idemtype.Result{Applied: 3}, 10, at(21))
	check(t, "at the end", g, 30, Reading{Position: 10, End: 10, Counts: idemtype.Result{Applied: 5, Dead: 1, Duplicates: 5}})
	g.Add(idemtype.Result{}, 12, at(31))
	check(t, "the end was heard of before", g, 40, Reading{Position: 12, End: 10, Counts: idemtype.Result{Applied: 5, Dead: 1, Duplicates: 5}})
}

// What is not known is not made up, and what is over begins anew.
func TestAgeBeginsWithWhatIsKnown(t *testing.T) {
	g := &Gauge{}
	g.Parked(Parked{Keys: 2, Records: 3})
	parked := Parked{Keys: 2, Records: 3}
	g.At(0, at(0))
	check(t, "no end", g, 5, Reading{End: Unknown, Records: Unknown, Parked: parked})
	g.End(10, time.Time{}, at(5))
	check(t, "an end", g, 7, Reading{End: 10, Records: 10, Age: 2 * time.Minute, Parked: parked})
	g.First(0, time.Time{})
	check(t, "a record without a time", g, 8, Reading{End: 10, Records: 10, Age: 3 * time.Minute, Parked: parked})
	g.At(0, at(8))
	check(t, "the same position", g, 9, Reading{End: 10, Records: 10, Age: 4 * time.Minute, Parked: parked})
	g.At(4, at(9))
	g.First(3, at(-60))
	check(t, "a record that is durable", g, 10, Reading{Position: 4, End: 10, Records: 6, Age: time.Minute, Parked: parked})
	g.End(4, time.Time{}, at(11)) // it was cut
	check(t, "a lower end", g, 12, Reading{Position: 4, End: 4, Parked: parked})
	g.End(5, time.Time{}, at(13))
	check(t, "a record came", g, 14, Reading{Position: 4, End: 5, Records: 1, Age: time.Minute, Parked: parked})
	g = &Gauge{}
	g.End(10, time.Time{}, at(0))
	g.At(0, at(3))
	check(t, "an end before the position", g, 5, Reading{End: 10, Records: 10, Age: 2 * time.Minute})
}

// Time goes on while nothing moves, also when more comes.
func TestAgeGrowsWhileNothingMoves(t *testing.T) {
	g := &Gauge{}
	g.At(5, at(0))
	g.End(5, time.Time{}, at(0))
	check(t, "at the end", g, 9, Reading{Position: 5, End: 5})
	g.End(6, time.Time{}, at(10))
	g.End(3000, time.Time{}, at(20))
	g.At(5, at(25))
	check(t, "behind", g, 30, Reading{Position: 5, End: 3000, Records: 2995, Age: 20 * time.Minute})
	g.At(3, at(30)) // a rewind
	check(t, "rewound", g, 31, Reading{Position: 3, End: 3000, Records: 2997, Age: time.Minute})
}
