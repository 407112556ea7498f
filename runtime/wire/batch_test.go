package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// priors are known keys, for those that all partitions remember and those of the chain alike.
type priors map[Key]Prior

func (p priors) Find(key Key, _ bool) (Prior, bool) {
	known, ok := p[key]
	return known, ok
}

// content is the definition of what most events here hold.
const content = 3

// A key is fresh once. Then it is a duplicate, or a conflict if the content differs. One that was
// fingerprinted under another definition cannot be compared.
func TestClaim(t *testing.T) {
	const def = content
	for _, c := range []struct {
		name  string
		prior priors
		mine  []Claim
		print uint32
		want  string
	}{
		{"unknown", nil, nil, 1, "fresh"},
		{"another key in the batch", nil, []Claim{{Key: Key{2}, Def: def, Print: 1}}, 1, "fresh"},
		{"another key before", priors{{2}: {1, def}}, nil, 1, "fresh"},
		{"again in the batch", nil, []Claim{{Key: Key{1}, Def: def, Print: 1}}, 1, "resent"},
		{"again in the batch, other content", nil, []Claim{{Key: Key{1}, Def: def, Print: 1}}, 2, "conflict"},
		{"claimed before", priors{{1}: {1, def}}, nil, 1, "resent"},
		{"claimed before, other content", priors{{1}: {1, def}}, nil, 2, "conflict"},
		{"claimed before under another definition", priors{{1}: {1, def - 1}}, nil, 1, "resent"},
		{"in the batch under another definition", nil, []Claim{{Key: Key{1}, Def: 6, Print: 2}}, 1, "resent"},
		{"the same with another fingerprint", priors{{1}: {1, def - 1}}, nil, 2, "resent"},
	} {
		b := NewBatch(newScript())
		b.Reset(c.prior)
		for _, m := range c.mine {
			b.Claim("Other", m.Key, m.Def, m.Print, false)
		}
		fresh, err := b.Claim("E", Key{1}, def, c.print, false)
		got := "fresh"
		if conflict, ok := errors.AsType[*ConflictError](err); ok && *conflict == (ConflictError{"E", Key{1}}) {
			got = "conflict"
		} else if b.record.outcome == Resent {
			got = "resent"
		}
		if got != c.want || fresh != (got == "fresh") || (err != nil) != (got == "conflict") {
			t.Errorf("%s: got %s, %v, %v, want %s", c.name, got, fresh, err, c.want)
		}
		want := c.mine
		if c.want == "fresh" {
			want = append(want, Claim{Key: Key{1}, Def: def, Print: c.print})
		}
		if _, claims := b.Finish(); !slices.Equal(claims, want) {
			t.Errorf("%s: claims %v, want %v", c.name, claims, want)
		}
	}
}

// What a call knows of its event is what the batch knows: key and policy of this record,
// and nothing of the one before.
func TestCallKnowsItsRecord(t *testing.T) {
	b := NewBatch(callPlan{})
	b.Reset(nil)
	topic := &FailurePolicy{}
	for _, v := range []string{"key", "offset", "policy"} {
		if _, err := b.Add(&Message{Value: []byte(v)}, topic); err != nil {
			t.Fatal(err)
		}
	}
	steps, _ := b.Finish()
	for i, want := range []Call{{Key: Key{7}, Policy: topic}, {Policy: topic}, {Policy: own}} {
		if got := steps[i].Call; got.Key != want.Key || got.Policy != want.Policy {
			t.Errorf("call %d: key %v, policy %+v", i, got.Key, got.Policy)
		}
	}
}

type callPlan struct{}

var own = &FailurePolicy{Stop: true}

func (callPlan) Add(b *Batch, m *Message) error {
	switch string(m.Value) {
	case "key":
		_, _ = b.Claim("E", Key{7}, content, 1, false)
	case "policy":
		b.record.policy = own
	}
	b.Call(m, Call{})
	return nil
}

func (callPlan) Flush(*Batch) {}

// A batch that is used again holds nothing of the run before, whole or interrupted.
func TestBatchReset(t *testing.T) {
	p := newScript()
	b := NewBatch(p)
	b.Reset(priors{{1}: {1, 1}})
	b.Claim("E", Key{2}, content, 1, false)
	if _, err := b.Add(&Message{Value: []byte("put order 1; call; put item 1")}, &FailurePolicy{Stop: true}); err != nil || !b.Failure().Stop {
		t.Fatal(err, b.Failure().Stop)
	}
	// interrupted: no Finish
	if got := p.run(b, "put order 1", "fail"); got != "put order 1" {
		t.Errorf("got %s", got)
	}
	if b.Failure().Stop {
		t.Error("the batch remembers on_failure of an event")
	}
	b.Reset(nil)
	for _, k := range []Key{{1}, {2}} {
		if fresh, err := b.Claim("E", k, content, 9, false); !fresh || err != nil {
			t.Errorf("key %v: %v, %v", k, fresh, err)
		}
	}
}

// The memory of a batch is used again for the next one.
func TestBatchMemory(t *testing.T) {
	p := newScript()
	b := NewBatch(p)
	for range 100 {
		p.run(b, "put order 1", "put order 1")
	}
	if n := len(p.rows["put order"].cols[0].buf); n > 100 {
		t.Errorf("the column holds %d bytes after 100 batches of 2 rows", n)
	}
}

// Each record has its own outcome.
func TestOutcome(t *testing.T) {
	p := outcomePlan{}
	b := NewBatch(p)
	b.Reset(nil)
	var got []Outcome
	for _, v := range []string{"claim", "ignore", "claim", "other"} {
		out, err := b.Add(&Message{Value: []byte(v)}, &FailurePolicy{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out)
	}
	if want := []Outcome{Applied, Ignored, Resent, Applied}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

type outcomePlan struct{}

func (outcomePlan) Add(b *Batch, m *Message) error {
	switch string(m.Value) {
	case "ignore":
		b.Ignore()
	case "claim":
		_, err := b.Claim("E", Key{1}, content, 1, false)
		return err
	}
	return nil
}

func (outcomePlan) Flush(*Batch) {}

// The parameters of all waves stay as they were written until the batch is reset.
func TestStepsStay(t *testing.T) {
	p := newScript()
	b := NewBatch(p)
	b.Reset(nil)
	var kept [][]byte
	for range 300 {
		b.Add(&Message{Value: []byte("put order 1; put item 1; put item 2")}, &FailurePolicy{})
		for _, s := range b.steps[len(kept):] {
			kept = append(kept, bytes.Clone(s.Args[0]))
		}
	}
	steps, _ := b.Finish()
	if len(kept) < 500 {
		t.Fatalf("only %d statements", len(kept))
	}
	for i, want := range kept {
		if !reflect.DeepEqual(steps[i].Args, [][]byte{want}) {
			t.Fatalf("statement %d changed: %x, want %x", i, steps[i].Args, want)
		}
	}
}
