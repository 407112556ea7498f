package idemtype

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/idemgen/idemgen/runtime/halt"
)

// The error of a halted partition says where it stands, why, and each way out with its costs if
// there are several.
func TestTextsOfErrors(t *testing.T) {
	p := Partition{Topic: "orders", Number: 3}
	release := halt.Way{Code: halt.Database, Consumer: "c", Topic: "orders", Partition: 3}
	past := release.Pass(7)
	cause := errors.New("out of range")
	for want, err := range map[string]error{
		"orders/3: fenced: another owner appended":                &FencedError{p, "another owner appended"},
		"orders/3: HALTED: no table":                              &HaltedError{Partition: p, Offset: -1, Code: halt.Database, Reason: "no table"},
		"orders/3: PAUSED: by ann":                                &HaltedError{Partition: p, Offset: -1, Code: halt.Paused, Reason: "by ann"},
		"orders/3: HALTED before offset 0: refused: out of range": &HaltedError{Partition: p, Code: halt.Database, Reason: "refused", Err: cause},
		"orders/3: HALTED: no table [database; then: " + release.String() + "]": &HaltedError{
			Partition: p, Offset: -1, Code: halt.Database, Reason: "no table", Ways: []halt.Way{release}},
		"orders/3: HALTED before offset 7: refused [database; then: " + release.String() + "] [with it " + release.Costs() + "] [or: " +
			past.String() + "] [with it " + past.Costs() + "]": &HaltedError{
			Partition: p, Offset: 7, Code: halt.Database, Reason: "refused", Ways: []halt.Way{release, past}},
	} {
		if err.Error() != want {
			t.Errorf("%s\nwant\n%s", err, want)
		}
	}
	if !errors.Is(&HaltedError{Err: cause}, cause) {
		t.Error("the cause is not in the chain")
	}
}

// An error about problems has a line for each, but for pauses: those are wanted.
func TestErrorOfProblems(t *testing.T) {
	one, two, pause := errors.New("one"), errors.New("two"), errors.New("paused")
	paused := Problem{Code: string(halt.Paused), Err: pause}
	for want, all := range map[string]Problems{
		"":         {paused},
		"one\ntwo": {{Code: "standby", Err: one}, paused, {Err: two}},
	} {
		text := ""
		if err := all.Err(); err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// Plus adds every count.
func TestResultsAreAdded(t *testing.T) {
	var a, b, want Result
	for i := range reflect.TypeFor[Result]().NumField() {
		reflect.ValueOf(&a).Elem().Field(i).SetInt(int64(i + 1))
		reflect.ValueOf(&b).Elem().Field(i).SetInt(int64(10 * i))
		reflect.ValueOf(&want).Elem().Field(i).SetInt(int64(11*i + 1))
	}
	if got := a.Plus(b); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDeliveryIsThatOfTheContext(t *testing.T) {
	if d, ok := DeliveryFrom(t.Context()); ok {
		t.Errorf("outside of a call: %+v", d)
	}
	if d, ok := DeliveryFrom(context.WithValue(t.Context(), DeliveryKey{}, &Delivery{Attempt: 2})); !ok || d.Attempt != 2 {
		t.Errorf("%+v, %t", d, ok)
	}
}
