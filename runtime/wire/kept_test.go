package wire

import (
	"testing"
	"time"
)

func TestPatches(t *testing.T) {
	for _, c := range []struct {
		p             Patch[int]
		sent, pointer bool
	}{
		{Patch[int]{}, false, false}, {Patch[int]{State: PatchNull}, true, false}, {Patch[int]{State: PatchValue}, true, true},
	} {
		if c.p.Sent() != c.sent || (c.p.Pointer() != nil) != c.pointer {
			t.Errorf("%+v: sent %t, pointer %v", c.p, c.p.Sent(), c.p.Pointer())
		}
	}
	prints := map[uint32]PatchState{}
	for _, state := range []PatchState{PatchAbsent, PatchNull} {
		var f Fingerprint
		f.Start()
		f.Patch("a", state)
		prints[f.Sum()] = state
	}
	if len(prints) != 2 {
		t.Errorf("null and absence have one fingerprint: %v", prints)
	}
}

func TestLocks(t *testing.T) {
	one := NewLock("a", "x", "y")
	if one != NewLock("a", "x", "y") || one.Name != "a" || one.Token != 0 {
		t.Errorf("%+v", one)
	}
	for _, other := range []Lock{NewLock("b", "x", "y"), NewLock("a", "y", "x"), NewLock("a", "xy"), NewLock("a", "x", "y", ""), NewLock("a")} {
		if other == one {
			t.Errorf("%+v is the same lock", other)
		}
	}
}

func TestPartsOfATypeAreJoined(t *testing.T) {
	var all []byte
	for _, c := range []struct{ next, want string }{{"order", "/order"}, {"", "/order"}, {"paid", "/order/paid"}} {
		if all = JoinType(all, c.next); string(all) != c.want {
			t.Errorf("%q, want %q", all, c.want)
		}
	}
}

// Only what a reader owns may be changed by who receives it.
func TestPointersToOptionalValues(t *testing.T) {
	texts := []string{"a", "b"}
	var r Reader
	r.Lend()
	if p := KeepEnum(&r, texts, 1); p != &texts[1] || r.Owned() {
		t.Errorf("lent: %p", p)
	}
	first := Keep(&r, int32(1))
	for i := range 100 {
		Keep(&r, int32(i))
	}
	if *first != 1 {
		t.Errorf("a pointer that was handed out has %d", *first)
	}
	r.Own()
	if p := KeepEnum(&r, texts, 1); p == &texts[1] || *p != "b" || !r.Owned() {
		t.Errorf("owned: %p", p)
	}
	at := time.UnixMilli(5)
	for name, ok := range map[string]bool{
		"text": *Keep(&r, "a") == "a", "bool": *Keep(&r, true), "int64": *Keep(&r, int64(5)) == 5, "float": *Keep(&r, 1.5) == 1.5, "uuid": *Keep(&r, UUID{1}) == UUID{1},
		"decimal": Keep(&r, MustDecimal("1.5")).String() == "1.5", "time": Keep(&r, at).Equal(at), "local": *Keep(&r, LocalTime(3)) == 3, "date": *Keep(&r, Date(4)) == 4,
		"another": Keep(&r, [2]int{1, 2})[1] == 2,
	} {
		if !ok {
			t.Errorf("%s: another value is kept", name)
		}
	}
	r.Fail("a", 3, "no")
	r.Fail("b", 4, "also no")
	r.Same("c", false)
	if e := r.Failure(); e.Path != "a" || e.At != 3 || r.Err("Paid").Error() != "decode: Paid: a no (at byte 3)" {
		t.Errorf("the first failure is %+v", e)
	}
	if r.Lend(); r.Failure() != nil || r.Err("Paid") != nil || r.Owned() {
		t.Error("it is not empty")
	}
	if r.Same("c", true); r.Failure() != nil {
		t.Error("equal values are refused")
	}
	if r.Same("c", false); r.Failure().Reason != "differs from the record key" {
		t.Errorf("%v", r.Failure())
	}
}
