package wire

import (
	"slices"
	"testing"
)

// Handlers and effects of a batch get the payload and the key of their own record, whatever was
// unpacked since.
func TestCodeGetsItsOwnPayload(t *testing.T) {
	for name, unpack := range map[string]func(m *Message, text []byte) *Message{
		"value": func(m *Message, text []byte) *Message { return m.Unpacked(text, nil) },
		"key":   func(m *Message, text []byte) *Message { return m.UnpackedKey(text, nil) },
		"both":  func(m *Message, text []byte) *Message { return m.Unpacked(text, nil).UnpackedKey(text, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			space := make([]byte, 0, 16)
			b := NewBatch(newScript())
			b.Reset(nil)
			for _, text := range []string{"first one", "second one"} {
				space = append(space[:0], text...)
				m := unpack(&Message{Value: []byte(text), Key: []byte(text)}, space)
				b.Call(m, Call{})
				b.Effect(m, Effect{})
			}
			steps, _ := b.Finish()
			steps = slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Call == nil })
			waiting, _ := b.Awaited()
			for i, want := range []string{"first one", "second one"} {
				for of, m := range map[string]*Message{"handler": steps[i].Call.Message, "effect": waiting[i].Message} {
					if string(m.Value) != want || string(m.Key) != want {
						t.Errorf("the %s of %q gets %q with key %q", of, want, m.Value, m.Key)
					}
				}
			}
		})
	}
}
