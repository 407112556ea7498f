package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// In steady state a borrowed event needs no memory.
func TestBorrowingAllocatesNothing(t *testing.T) {
	m := &wire.Message{Value: []byte(kindsJSON), Key: []byte(`{"price":1}`), Headers: []wire.Header{{Name: "h", Value: []byte("x")}}}
	var s Scanner
	var e kinds
	var part inner
	event := func() {
		if _, err := s.EventType(m, "s"); err != nil {
			t.Fatal(err)
		}
		s.Borrow(m)
		e.decode(&s)
		s.NextKey(m)
		part.decode(&s)
		if h, ok := s.OptHeader(m, "h"); ok {
			e.O.S = wire.Keep(&s.Reader, h.String())
		}
		if err := s.Finish("Kinds"); err != nil {
			t.Fatal(err)
		}
	}
	event()
	if n := testing.AllocsPerRun(100, event); n != 0 {
		t.Errorf("%v allocations in an event", n)
	}
}
