package lag

import (
	"testing"
	"time"
)

// While a partition is halted, time goes on unless it is known that no record waits.
func TestAgeGrowsWhileThePartitionStands(t *testing.T) {
	g := &Gauge{}
	g.Stands(false, at(0))
	check(t, "nothing is known", g, 3, Reading{Position: Unknown, End: Unknown, Records: Unknown, Age: 3 * time.Minute})
	g.Low(4)
	g.End(4, time.Time{}, at(3))
	check(t, "the log is empty", g, 4, Reading{Position: Unknown, End: 4, Records: Unknown})
	g.End(5, time.Time{}, at(4))
	check(t, "a record came", g, 6, Reading{Position: Unknown, End: 5, Records: Unknown, Age: 6 * time.Minute})
	g.At(5, at(6))
	g.Stands(false, at(6))
	check(t, "another one has read it", g, 7, Reading{Position: 5, End: 5})
	g.At(9, at(7))
	check(t, "and more, which was not heard of yet", g, 8, Reading{Position: 9, End: 5})
	g.Stands(true, at(9))
	check(t, "the log is another one", g, 10, Reading{Position: 9, End: 5, Records: Unknown, Age: 10 * time.Minute})
	g.End(9, time.Time{}, at(10))
	check(t, "which has grown", g, 11, Reading{Position: 9, End: 9, Records: Unknown, Age: 11 * time.Minute})
	g.Works()
	check(t, "taken over", g, 12, Reading{Position: 9, End: 9})
	g.Stands(true, at(20))
	check(t, "again", g, 21, Reading{Position: 9, End: 9, Records: Unknown, Age: time.Minute})
}
