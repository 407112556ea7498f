package main

import (
	"testing"
	"time"
)

func TestRatiosArePairwise(t *testing.T) {
	// The rounds differ by more than the contenders do.
	got := pairwise([]float64{100, 30, 8}, []float64{50, 10, 8})
	if want := (figure{value: 2, least: 1, most: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMedianOfAnEvenNumberIsBetween(t *testing.T) {
	for want, v := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(v); got != want {
			t.Errorf("median of %v is %v, want %v", v, got, want)
		}
	}
}

// CPU times are those of the median run, of process and database apart, for as many records.
func TestRunsAreComparedByTimeAndByCost(t *testing.T) {
	run := func(seconds float64, process, database time.Duration) measurement {
		return measurement{Records: 190_000, Seconds: seconds, Consumed: 200_000, CPU: process, DatabaseCPU: database}
	}
	got := beside([]measurement{run(1, time.Second, time.Second), run(2, 3*time.Second, 5*time.Second), run(2, 4*time.Second, 4*time.Second)},
		[]measurement{run(2, 2*time.Second, 6*time.Second), run(2, 2*time.Second, 6*time.Second), run(2, 2*time.Second, 6*time.Second)})
	want := figure{value: 1, least: 1, most: 2, cpu: 1, ours: cost{1.5, 2}, theirs: cost{1, 3}}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSpeedIsRecordsPerSecond(t *testing.T) {
	if got := (measurement{Records: 300, Seconds: 1.5}).speed(); got != 200 {
		t.Errorf("got %v", got)
	}
}

func TestLineSaysWhetherTheGoalIsMet(t *testing.T) {
	ours, theirs := cost{0.61, 0.72}, cost{0.4, 0.5}
	const costs = " CPU seconds per 100,000 records: process 0.61/0.40, Postgres 0.72/0.50"
	for _, c := range []struct {
		row  row
		f    figure
		want string
	}{
		{row{id: "P1b", name: "header keys/by hand", goal: atLeast(0.75)}, figure{value: 0.7, least: 0.66, most: 0.72}, "P1b header keys/by hand 0.70 goal>=0.75 below (0.66 to 0.72)"},
		{row{id: "P1b", name: "header keys/by hand", goal: atLeast(0.75)}, figure{value: 0.75, least: 0.7, most: 0.8, cpu: 0.77, ours: ours, theirs: theirs}, "P1b header keys/by hand 0.75 goal>=0.75 met (0.70 to 0.80; 0.77 by CPU time)" + costs},
		{row{id: "P1b", name: "header keys/by hand", goal: atLeast(0.75)}, figure{value: 0.8, least: 0.7, most: 0.9, cpu: 0.74, ours: ours, theirs: theirs}, "P1b header keys/by hand 0.80 goal>=0.75 unclear (0.70 to 0.90; 0.74 by CPU time)" + costs},
		{row{id: "P1b", name: "header keys/by hand", goal: atLeast(0.75)}, figure{value: 0.7, least: 0.6, most: 0.9, cpu: 0.76, ours: ours, theirs: theirs}, "P1b header keys/by hand 0.70 goal>=0.75 unclear (0.60 to 0.90; 0.76 by CPU time)" + costs},
		{row{id: "P12c", name: "handler/statements queued by hand", goal: moreIsBetter}, figure{value: 0.3, least: 0.2, most: 0.4, cpu: 0.25, ours: ours, theirs: theirs}, "P12c handler/statements queued by hand 0.30 (0.20 to 0.40; 0.25 by CPU time)" + costs},
		{row{id: "P10", name: "offset keys, peak MiB", goal: atMost(64)}, figure{value: 64.5, least: 60, most: 64.5}, "P10 offset keys, peak MiB 64.50 goal<=64 below (60.00 to 64.50)"},
		{row{id: "P10", name: "offset keys, peak MiB", goal: atMost(64)}, figure{value: 64, least: 60, most: 64}, "P10 offset keys, peak MiB 64.00 goal<=64 met (60.00 to 64.00)"},
	} {
		if got := c.row.line(c.f); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The worst run counts for memory.
func TestMemoryIsThatOfTheLargestRun(t *testing.T) {
	if got := largest([]float64{50, 70, 60}); got != (figure{value: 70, least: 50, most: 70}) {
		t.Errorf("got %v", got)
	}
}
