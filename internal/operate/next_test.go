package operate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/wire"
)

// What an operator can do next follows from the state of a letter and its class: testdata/next.txt
// has it for each.
func TestWhatAnOperatorCanDoNext(t *testing.T) {
	behind := int64(3)
	of := func(class string, change func(*operate.Opened)) *operate.Opened {
		o := &operate.Opened{Record: new(operate.Record)}
		o.Place, o.Cause, o.State = operate.Place{Consumer: "c", Topic: "t", Partition: 1, Offset: 7}, operate.Cause{Class: class, Event: "Paid"}, "dead"
		if change != nil {
			change(o)
		}
		return o
	}
	var b strings.Builder
	for _, c := range []struct {
		about string
		o     *operate.Opened
	}{
		{"replayed", of(wire.ReasonHandler, func(o *operate.Opened) { o.State, o.End, o.Former = "replayed", new(operate.End), true })},
		{"of a former topic, waiting", of(wire.ReasonHandler, func(o *operate.Opened) { o.State, o.Former, o.TopicID = "waiting", true, "an-id" })},
		{"waiting", of(wire.ReasonHandler, func(o *operate.Opened) { o.State, o.Behind = "waiting", &behind })},
		{"waiting for nothing", of(wire.ReasonHandler, func(o *operate.Opened) { o.State = "waiting" })},
		{"erased", of(wire.ReasonInterrupted, func(o *operate.Opened) { o.ErasedBy, o.Record = "ann", nil })},
		{"not kept", of(wire.ReasonInterrupted, func(o *operate.Opened) { o.Record = nil })},
		{"a conflict", of(wire.ReasonConflict, nil)},
		{"a conflict, and a call", of(wire.ReasonConflict, func(o *operate.Opened) { o.Called = true })},
		{"an interrupted call", of(wire.ReasonInterrupted, nil)},
		{"an interrupted call with a result", of(wire.ReasonInterrupted, func(o *operate.Opened) { o.Called = true })},
		{"a result that cannot be read", of(wire.ReasonResult, func(o *operate.Opened) { o.Called = true })},
		{"a handler", of(wire.ReasonHandler, nil)},
		{"a handler that others wait for", of(wire.ReasonHandler, func(o *operate.Opened) { o.Parks = true })},
		{"a handler behind a call", of(wire.ReasonHandler, func(o *operate.Opened) { o.Called, o.Parks = true, true })},
	} {
		fmt.Fprintf(&b, "# %s\n%s\n\n", c.about, strings.Join(c.o.Steps(), "\n"))
	}
	path := filepath.Join("testdata", "next.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want(t, path, b.String(), string(is))
}
