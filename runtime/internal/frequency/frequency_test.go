package frequency_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/frequency"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestThrottleHoldsBackWhatExceedsItsLines(t *testing.T) {
	var th frequency.Throttle
	passed := 0
	for range 25 {
		if ok, _ := th.Pass(noon); ok {
			passed++
		}
	}
	if passed != 10 {
		t.Errorf("%d of 25 lines passed at once, want 10", passed)
	}
	if ok, held := th.Pass(noon.Add(10 * time.Second)); !ok || held != 15 {
		t.Errorf("in the next period: passed %v, held back before %d, want 15", ok, held)
	}
	if _, held := th.Pass(noon.Add(11 * time.Second)); held != 0 {
		t.Errorf("%d held back were told twice", held)
	}
}

func TestHourForgetsWhatIsOlder(t *testing.T) {
	var h frequency.Hour
	for i, want := range []int{1, 2, 3, 3, 1} {
		at := noon.Add([]time.Duration{0, 20, 50, 65, 200}[i] * time.Minute)
		if got := h.Count(at); got != want {
			t.Errorf("at %v: %d, want %d", at.Format("15:04"), got, want)
		}
	}
}

func TestOnlyNumbersDiffer(t *testing.T) {
	if !frequency.SameButNumbers("end at 9, read to 5", "end at 10, read to 12") {
		t.Error("a log that grew is a change")
	}
	if frequency.SameButNumbers("offset 5: not found", "offset 5: refused") {
		t.Error("another text is none")
	}
}
