package outbox

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestPlan: a read leaves out what is known, has the room that is left, and is of what is not held
// back and of what is due; or of these only, if too many are held back.
func TestPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		l.most = 3
		l.reads(eventOf(1, "a", "t", 10), eventOf(2, "a", "t", 20), eventOf(3, "b", "t", 30))
		l.acked.seqs = []int64{7, 8}
		late := eventOf(9, "late", "t", 40)
		l.late[late.aggregate], l.lines[late.aggregate] = late, []*event{late}
		for n, until := range []time.Duration{0, time.Hour} {
			l.held[aggregate{kind: "user", id: fmt.Sprint("held", n)}] = &held{until: time.Now().Add(until)}
		}
		p := l.plan(time.Now())
		expect(t, "left out", fmt.Sprint(slices.Sorted(slices.Values(p.known))), "[1 2 3 7 8 9]")
		expect(t, "not read", fmt.Sprint(p.those, slices.Sorted(slices.Values(p.ids))), "true [held0]") // late ones count
		expect(t, "rows", p.room, mostRows+1-6)
		expect(t, "bytes", p.bytes, mostBytes-60)
		expect(t, "asked", p.asked, time.Now())
		l.most = 4
		p = l.plan(time.Now())
		expect(t, "of others", fmt.Sprint(p.those, slices.Sorted(slices.Values(p.ids)), len(p.again), p.othersNext), "false [held1 late] 1 false")

		// With too many dead letters, reads alternate between other events and those that are due.
		l.most = 1
		l.held[aggregate{kind: "dead", id: "d", letters: true}] = &held{until: time.Now()}
		for n := range 4 {
			p = l.plan(time.Now())
			others := n%2 == 0
			want := fmt.Sprint([]string{"dead"}, map[bool]int{true: 0, false: 2}[others], !others)
			expect(t, fmt.Sprint("turn ", n), fmt.Sprint(p.crowd, len(p.again), p.othersNext), want)
		}
		for _, h := range l.held {
			h.until = time.Now().Add(time.Hour)
		}
		p = l.plan(time.Now())
		expect(t, "with nothing due", fmt.Sprint(len(p.again), p.othersNext, l.others), "0 false false")
		l.most = mostHeld
		for _, h := range l.held {
			h.until = time.Now()
		}
		for range 2 {
			p = l.plan(time.Now())
			expect(t, "without a crowd", fmt.Sprint(p.crowd, len(p.again), p.othersNext, p.those, l.others), "[] 3 false false false")
		}
	})
}

// TestPlanOfACrowd: while too many dead letters are stopped, a read selects what is not held back,
// and the next read selects only those that are due.
func TestPlanOfACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := leading()
		l.most = 1
		l.held[aggregate{kind: "dead", id: "d", letters: true}] = &held{until: time.Now()}
		for n, want := range []string{"false [d] 0 false", "true [d] 1 true", "false [d] 0 false"} {
			p := l.plan(time.Now())
			expect(t, fmt.Sprint("read ", n), fmt.Sprint(p.those, p.ids, len(p.again), p.othersNext), want)
		}
	})
}

// TestAdd: there is more to read if a read was full, by its rows or its bytes, or was of those
// that are due only. Else aggregates that were due and have no events are forgotten.
func TestAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := aggregate{kind: "user", id: "a"}, aggregate{kind: "user", id: "b"}
		for _, c := range []struct {
			name       string
			events     []*event
			room       int
			othersNext bool
			more       bool
			held       int
		}{
			{name: "few", events: []*event{eventOf(1, "a", "t", 1)}, room: 2, held: 1},
			{name: "full", events: []*event{eventOf(1, "a", "t", 1), eventOf(2, "c", "t", 1)}, room: 2, more: true, held: 2},
			{name: "large", events: []*event{eventOf(1, "a", "t", mostBytes/2)}, room: 2, more: true, held: 2},
			{name: "less large", events: []*event{eventOf(1, "a", "t", mostBytes/2-1)}, room: 2, held: 1},
			{name: "of those that are due", events: []*event{eventOf(1, "a", "t", 1)}, room: 2, othersNext: true, more: true, held: 1},
		} {
			l, _ := leading()
			l.more = !c.more
			l.held[a], l.held[b] = &held{until: time.Now()}, &held{until: time.Now()}
			l.add(&reading{asked: time.Now(), room: c.room, othersNext: c.othersNext, again: map[aggregate]bool{a: true, b: true}}, c.events)
			expect(t, c.name+": more", l.more, c.more)
			expect(t, c.name+": held back", len(l.held), c.held)
		}
	})
}
