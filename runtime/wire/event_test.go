package wire

import "testing"

// raw is a decoder that takes every record.
type raw struct{}

func (raw) Borrow(*Message)     {}
func (raw) Reset(*Message)      {}
func (raw) Finish(string) error { return nil }

// byOffset is a plan of one event, which is identified by its offset.
type byOffset struct{ Event[struct{}, raw] }

func (p *byOffset) Flush(*Batch) {}

func (p *byOffset) Add(b *Batch, m *Message) error {
	_, err := p.Take(b, m, raw{}, &struct{}{})
	return err
}

// An event without a key has a name all the same: for limits, dead letters and hooks.
func TestEventIdentifiedByItsOffsetHasAName(t *testing.T) {
	b := NewBatch(&byOffset{Event[struct{}, raw]{Name: "Opened", Decode: func(*struct{}, raw, *Message) {}}})
	b.Reset(nil)
	if _, err := b.Add(&Message{}, &FailurePolicy{}); err != nil || b.Event() != "Opened" {
		t.Errorf("the event is %q, %v", b.Event(), err)
	}
}
