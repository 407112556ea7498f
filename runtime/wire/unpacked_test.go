package wire

import (
	"slices"
	"testing"
)

// Handlers and effects of a batch get the payload of their own record, whatever was unpacked
// since.
func TestCodeGetsItsOwnPayload(t *testing.T) {
	unpacked := make([]byte, 0, 16)
	b := NewBatch(newScript())
	b.Reset(nil)
	for _, text := range []string{"first one", "second one"} {
		unpacked = append(unpacked[:0], text...)
		m := (&Message{Value: []byte("packed")}).Unpacked(unpacked)
		b.Call(m, Call{})
		b.Effect(m, Effect{})
	}
	steps, _ := b.Finish()
	steps = slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Call == nil })
	waiting, _ := b.Awaited()
	for i, want := range []string{"first one", "second one"} {
		if call, effect := string(steps[i].Call.Message.Value), string(waiting[i].Message.Value); call != want || effect != want {
			t.Errorf("the handler of %q gets %q, its effect %q", want, call, effect)
		}
	}
}
