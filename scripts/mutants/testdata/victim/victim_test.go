package victim

import (
	"testing"
	"time"
)

func TestDouble(t *testing.T) {
	for name, n := range map[string]int{"two": 2, "zero": 0} {
		t.Run(name, func(t *testing.T) {
			if got := Double(n); got != n+n {
				t.Errorf("got %d, want %d", got, n+n)
			}
		})
	}
}

func TestThatFailsWithoutABug(t *testing.T) { t.Error("always") }

func TestThatSaysNothing(t *testing.T) {
	if Double(2) != 4 {
		t.Fail()
	}
}

func TestThatSkips(t *testing.T) { t.Skip("never") }

// TestThatTakesTime takes 200 ms, and with a bug as long as Double says.
func TestThatTakesTime(t *testing.T) {
	time.Sleep(time.Duration(Double(100)) * time.Millisecond)
	if got := Double(1); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
}

func TestThatHangsAfterItsMessage(t *testing.T) {
	if Double(2) != 4 {
		t.Error("not doubled")
		select {}
	}
}
