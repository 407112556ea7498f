package retry

import (
	"maps"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A search goes on with half of the records that fail together, and a limit holds beside it.
func TestSizes(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*State)
		want int // of 10 records
	}{
		"nothing failed":            {func(*State) {}, 10},
		"10 failed":                 {func(s *State) { s.search(10) }, 5},
		"3 failed":                  {func(s *State) { s.search(3) }, 1},
		"1 failed":                  {func(s *State) { s.search(1) }, 1},
		"30 failed":                 {func(s *State) { s.search(30) }, 10},
		"10 failed, 6 passed":       {func(s *State) { s.search(10); s.Passed(6) }, 2},
		"10 failed, 10 passed":      {func(s *State) { s.search(10); s.Passed(10) }, 10},
		"10 failed, 11 passed":      {func(s *State) { s.search(10); s.Passed(11) }, 10},
		"halved":                    {func(s *State) { s.Halve(10) }, 5},
		"halved twice":              {func(s *State) { s.Halve(10); s.Halve(10) }, 2},
		"one halved":                {func(s *State) { s.Halve(1) }, 1},
		"halved, 8 failed":          {func(s *State) { s.Halve(6); s.search(8) }, 3},
		"halved, 4 failed":          {func(s *State) { s.Halve(6); s.search(4) }, 2},
		"halved, then acknowledged": {func(s *State) { s.Halve(10); s.Advanced(1) }, 10},
		"others first":              {func(s *State) { s.others(batch(4, 5, 6), &wire.Message{Offset: 6}) }, 2},
		"no others":                 {func(s *State) { s.others(batch(4, 5, 6), &wire.Message{Offset: 4}) }, 10},
	} {
		s := New()
		if c.do(s); s.Size(10) != c.want {
			t.Errorf("%s: %d records are sent, want %d", name, s.Size(10), c.want)
		}
	}
}

// Letters stay until their records are durable, and have the results of their records' effects.
func TestRefusedRecords(t *testing.T) {
	s := New()
	for _, m := range batch(1, 2, 3) {
		s.Refuse(deadletter.Letter{Message: &m})
	}
	s.Called(map[int64]wire.EffectResult{2: {Result: []byte("r")}, 4: {Result: []byte("r")}})
	if r := s.Refused(); len(r) != 3 || string(r[2].Returned) != "r" || r[1].Returned != nil {
		t.Errorf("refused: %+v", r)
	}
	s.Advanced(2)
	if got := slices.Sorted(maps.Keys(s.Refused())); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("once all records below 2 are durable, %v are refused", got)
	}
}

// A call that succeeds ends the count of its record's failures, and of no other's.
func TestSuccessEndsTheCountOfItsRecord(t *testing.T) {
	s := New()
	for _, failed := range []int{1, 2} {
		s.calls.again(5, policy, refusal())
		if got := s.Attempt(5); got != failed+1 {
			t.Errorf("after %d failures call %d is next", failed, got)
		}
	}
	if s.Succeeded(6); s.Attempt(5) != 3 || s.Attempt(6) != 1 {
		t.Errorf("calls %d and %d are next, want 3 and 1", s.Attempt(5), s.Attempt(6))
	}
	if s.Succeeded(5); s.Attempt(5) != 1 {
		t.Errorf("call %d is next, want 1", s.Attempt(5))
	}
}

// The earlier of the statements' preparations and changed settings no longer count once a
// transaction is acknowledged.
func TestAcknowledgementEndsCounts(t *testing.T) {
	s := New()
	s.settings, s.replanned = mostSettings, true
	if s.Advanced(1); s.settings != 0 || s.replanned {
		t.Errorf("%d settings, replanned %t", s.settings, s.replanned)
	}
}

func TestIndexOfARecord(t *testing.T) {
	for offset, want := range map[int64]int{4: 0, 6: 2, 7: 3} {
		if got := Index(batch(4, 5, 6), offset); got != want {
			t.Errorf("%d is at %d, want %d", offset, got, want)
		}
	}
	if got := First(nil); got != -1 {
		t.Errorf("the first of none is %d", got)
	}
}
