package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/process"
)

// Partitions that make no progress come first, then topics and numbers in order. What is beyond
// the limit is counted.
func TestPartitionsOfARow(t *testing.T) {
	t.Parallel()
	r := process.Report{More: 2, Partitions: []process.Assigned{
		{Topic: "b", Partition: 1}, {Topic: "a", Partition: 10}, {Topic: "a", Partition: 9},
		{Topic: "c", Partition: 2, Code: "x"}, {Topic: "c", Partition: 1, Code: "y"},
	}}
	for n := range int32(mostPartitions - len(r.Partitions)) {
		r.Partitions = append(r.Partitions, process.Assigned{Topic: "z", Partition: n})
	}
	bound(&r)
	var first []string
	for _, p := range r.Partitions[:6] {
		first = append(first, fmt.Sprint(p.Topic, p.Partition))
	}
	if got := fmt.Sprint(first, len(r.Partitions), r.More); got != "[c1 c2 a9 a10 b1 z0] 1000 2" {
		t.Error(got)
	}
	r.Partitions = append(r.Partitions, process.Assigned{Topic: "a", Partition: 8}, process.Assigned{Topic: "zz"})
	bound(&r)
	if got := fmt.Sprint(r.Partitions[2].Partition, len(r.Partitions), r.More); got != "8 1000 4" {
		t.Error(got)
	}
	if text, err := column(&process.Report{}); err != nil || text != `{"problems":[],"partitions":[],"more":0}` {
		t.Errorf("%s, %v", text, err)
	}
	for length, want := range map[int]int{mostText - 1: mostText - 1, mostText: mostText, mostText + 1: mostText} {
		if got := len([]rune(Text(strings.Repeat("é", length)))); got != want {
			t.Errorf("%d of %d characters", got, length)
		}
	}
}

// A report is another one if a partition or a problem is, or what is said of it but for numbers.
func TestWhatChangesAReport(t *testing.T) {
	t.Parallel()
	now := func() *process.Report {
		return &process.Report{
			Problems:   []process.Problem{{Code: "c", Reason: "for 3s"}},
			Partitions: []process.Assigned{{Topic: "t", Partition: 4, State: "s", Code: "c", Reason: "for 3s"}},
		}
	}
	for name, c := range map[string]struct {
		change func(*process.Report)
		want   bool
	}{
		"nothing": {func(*process.Report) {}, false},
		"numbers": {func(r *process.Report) {
			r.Problems[0].Reason, r.Partitions[0].Reason = "for 4s", "for 15s"
		}, false},
		"a position": {func(r *process.Report) {
			r.Partitions[0].Position, r.Partitions[0].Applied = 9, 9
		}, false},
		"more partitions":      {func(r *process.Report) { r.More++ }, true},
		"a problem's code":     {func(r *process.Report) { r.Problems[0].Code = "d" }, true},
		"a problem's reason":   {func(r *process.Report) { r.Problems[0].Reason = "since 3s" }, true},
		"no problem":           {func(r *process.Report) { r.Problems = nil }, true},
		"a topic":              {func(r *process.Report) { r.Partitions[0].Topic = "u" }, true},
		"a partition":          {func(r *process.Report) { r.Partitions[0].Partition = 5 }, true},
		"a partition's state":  {func(r *process.Report) { r.Partitions[0].State = "r" }, true},
		"a partition's code":   {func(r *process.Report) { r.Partitions[0].Code = "d" }, true},
		"a partition's reason": {func(r *process.Report) { r.Partitions[0].Reason = "since 3s" }, true},
		"one partition is added": {func(r *process.Report) {
			r.Partitions = append(r.Partitions, process.Assigned{})
		}, true},
	} {
		r := now()
		c.change(r)
		if changed(now(), r) != c.want || changed(r, now()) != c.want {
			t.Errorf("%s: changed is not %t", name, c.want)
		}
	}
}

// A state or a problem lasts since it was first seen, or since it began if that is earlier, and
// as long as state and code stay. A problem ends with progress.
func TestSinceWhenAStateLasts(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	for name, c := range map[string]struct {
		was, is process.Assigned
		want    int // minutes after noon; it is seen first in minute 10, then in minute 20
	}{
		"the same state":   {process.Assigned{State: "s"}, process.Assigned{State: "s", Position: 4}, 10},
		"another state":    {process.Assigned{State: "s"}, process.Assigned{State: "r"}, 20},
		"a problem begins": {process.Assigned{State: "s"}, process.Assigned{State: "s", Code: "c"}, 20},
		"a problem ends":   {process.Assigned{State: "s", Code: "c"}, process.Assigned{State: "s"}, 20},
		"the same problem": {process.Assigned{State: "s", Code: "c"}, process.Assigned{State: "s", Code: "c"}, 10},
		"the problem of a record": {
			process.Assigned{State: "s", Code: "c"}, process.Assigned{State: "s", Code: "c", Position: 4}, 20,
		},
		"it began earlier":         {process.Assigned{State: "s"}, process.Assigned{State: "s", Since: at(5)}, 5},
		"it began later":           {process.Assigned{State: "s"}, process.Assigned{State: "s", Since: at(15)}, 10},
		"another one of the topic": {process.Assigned{State: "s", Partition: 1}, process.Assigned{State: "s"}, 20},
		"another topic":            {process.Assigned{State: "s", Topic: "t"}, process.Assigned{State: "s"}, 20},
	} {
		var known times
		first := process.Report{Partitions: []process.Assigned{c.was}}
		second := process.Report{Partitions: []process.Assigned{c.is}}
		known.keep(&first, at(10))
		known.keep(&second, at(20))
		if got := second.Partitions[0].Since; !got.Equal(at(c.want)) || !first.Partitions[0].Since.Equal(at(10)) {
			t.Errorf("%s: since %v, then %v; want minute %d", name, first.Partitions[0].Since, got, c.want)
		}
		gone := process.Report{}
		known.keep(&gone, at(30))
		known.keep(&first, at(40))
		if len(known) != 1 {
			t.Errorf("%s: %d partitions are remembered", name, len(known))
		}
	}
}
