package wire

import (
	"errors"
	"testing"
)

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

// calls is a decoder that notes which of its methods was called.
type calls struct {
	last string
	err  error
}

func (c *calls) Borrow(*Message)     { c.last = "Borrow" }
func (c *calls) Reset(*Message)      { c.last = "Reset" }
func (c *calls) Finish(string) error { return c.err }

// keyed is a plan of one event, whose key is a header and whose content is the value.
type keyed struct {
	Event[string, *calls]
	decoder calls
	fresh   bool
}

func (p *keyed) Flush(*Batch) {}

func (p *keyed) Add(b *Batch, m *Message) (err error) {
	p.fresh, err = p.Take(b, m, &p.decoder, new(string))
	return err
}

// TestTakeClaimsTheKeyOfAnEventOnce: an event is new once for its key, a duplicate must have the
// same content, and what is rejected before claims nothing.
func TestTakeClaimsTheKeyOfAnEventOnce(t *testing.T) {
	policy := &FailurePolicy{Retries: 9}
	p := &keyed{Event: Event[string, *calls]{
		Name: "Paid", OnFailure: policy, Space: KeySpace("000102030405060708090a0b0c0d0e0f"), Here: true, Content: 7,
		Decode: func(e *string, _ *calls, m *Message) { *e = string(m.Value) },
		Key:    func(_ *string, k *KeyBuilder, m *Message) { k.Header(m, "id") },
		Print:  func(e *string, f *Fingerprint) { f.Text("v", *e) },
		Fits:   func(e *string, f *Fit) { f.Varchar("v", e, 3) },
	}}
	b := NewBatch(p)
	b.Reset(nil)
	add := func(key, value string) (bool, error) {
		_, err := b.Add(&Message{Value: []byte(value), Headers: []Header{{"id", []byte(key)}}}, &FailurePolicy{})
		return p.fresh, err
	}
	for _, c := range []struct {
		key, value string
		fresh      bool
	}{{"a", "x", true}, {"a", "x", false}, {"b", "x", true}, {"b", "x", false}, {"a", "x", false}} {
		if fresh, err := add(c.key, c.value); fresh != c.fresh || err != nil {
			t.Errorf("%s: fresh %v, %v; want %v", c.key, fresh, err, c.fresh)
		}
	}
	if b.record.policy != policy || p.decoder.last != "Borrow" {
		t.Errorf("policy %v, decoder %s", b.record.policy, p.decoder.last)
	}
	if fresh, err := add("a", "y"); fresh || !errors.As(err, new(*ConflictError)) {
		t.Errorf("other content: fresh %v, %v", fresh, err)
	}
	if fresh, err := add("c", "long"); fresh || err == nil {
		t.Errorf("a value that does not fit: fresh %v, %v", fresh, err)
	}
	p.decoder.err = errors.New("broken")
	if fresh, err := add("d", "x"); fresh || err != p.decoder.err {
		t.Errorf("a record that does not decode: fresh %v, %v", fresh, err)
	}
	p.decoder.err = nil
	if _, err := b.Add(&Message{Value: []byte("x")}, &FailurePolicy{}); p.fresh || err == nil {
		t.Errorf("no key: fresh %v, %v", p.fresh, err)
	}
	p.Owned = true
	for _, key := range []string{"c", "d"} {
		if fresh, err := add(key, "x"); !fresh || err != nil {
			t.Errorf("%s after it was rejected: fresh %v, %v", key, fresh, err)
		}
	}
	if p.decoder.last != "Reset" {
		t.Error("an event that a handler keeps is borrowed")
	}
	if claims := b.keys.claims; len(claims) != 4 || claims[0].Key == claims[1].Key || !claims[0].Here || claims[0].Def != 7 {
		t.Errorf("claims %+v", claims)
	}
	p.Key = nil
	if fresh, err := add("", "x"); !fresh || err != nil {
		t.Errorf("without a key: fresh %v, %v", fresh, err)
	}
	if fresh, err := add("", "long"); fresh || err == nil {
		t.Errorf("without a key, a value that does not fit: fresh %v, %v", fresh, err)
	}
}
