package wire

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"
)

// A key is fresh once. Then it is a duplicate, or a conflict if the content differs; a
// content that was fingerprinted under another definition cannot be compared.
func TestClaim(t *testing.T) {
	const def = 3
	for _, c := range []struct {
		name  string
		prior map[Key]Prior
		mine  []Claim
		print uint32
		want  string
	}{
		{"unknown", nil, nil, 1, "fresh"},
		{"another key in the batch", nil, []Claim{{Key{2}, 1}}, 1, "fresh"},
		{"another key before", map[Key]Prior{{2}: {1, def}}, nil, 1, "fresh"},
		{"again in the batch", nil, []Claim{{Key{1}, 1}}, 1, "resent"},
		{"again in the batch, other content", nil, []Claim{{Key{1}, 1}}, 2, "conflict"},
		{"claimed before", map[Key]Prior{{1}: {1, def}}, nil, 1, "resent"},
		{"claimed before, other content", map[Key]Prior{{1}: {1, def}}, nil, 2, "conflict"},
		{"claimed before under another definition", map[Key]Prior{{1}: {1, def - 1}}, nil, 1, "resent"},
		{"the same with another fingerprint", map[Key]Prior{{1}: {1, def - 1}}, nil, 2, "resent"},
	} {
		b := NewBatch(newScript())
		b.Reset(c.prior, def)
		for _, m := range c.mine {
			b.Claim("Other", m.Key, m.Print)
		}
		fresh, err := b.Claim("E", Key{1}, c.print)
		got := "fresh"
		if conflict, ok := errors.AsType[*ConflictError](err); ok && *conflict == (ConflictError{"E", Key{1}}) {
			got = "conflict"
		} else if b.out == Resent && b.Duplicate() == (Key{1}) {
			got = "resent"
		}
		if got != c.want || fresh != (got == "fresh") || (err != nil) != (got == "conflict") {
			t.Errorf("%s: got %s, %v, %v, want %s", c.name, got, fresh, err, c.want)
		}
		want := c.mine
		if c.want == "fresh" {
			want = append(want, Claim{Key{1}, c.print})
		}
		if _, claims := b.Finish(); !slices.Equal(claims, want) {
			t.Errorf("%s: claims %v, want %v", c.name, claims, want)
		}
	}
}

// A batch that is used again holds nothing of the run before, whole or interrupted.
func TestBatchReset(t *testing.T) {
	p := newScript()
	b := NewBatch(p)
	b.Reset(map[Key]Prior{{1}: {1, 1}}, 1)
	b.Claim("E", Key{2}, 1)
	if _, err := b.Add(&Message{Value: []byte("put order 1; call; put item 1")}, true); err != nil || !b.Calls() || !b.StopsOnFailure() {
		t.Fatal(err, b.Calls(), b.StopsOnFailure())
	}
	// interrupted: no Finish
	if got := p.run(b, "put order 1", "fail"); got != "put order 1" {
		t.Errorf("got %s", got)
	}
	if b.Calls() || b.StopsOnFailure() {
		t.Error("the batch remembers a call")
	}
	b.Reset(nil, 1)
	for _, k := range []Key{{1}, {2}} {
		if fresh, err := b.Claim("E", k, 9); !fresh || err != nil {
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
	b.Reset(nil, 0)
	var got []Outcome
	for _, v := range []string{"claim", "ignore", "claim", "other"} {
		out, err := b.Add(&Message{Value: []byte(v)}, false)
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
		_, err := b.Claim("E", Key{1}, 1)
		return err
	}
	return nil
}

func (outcomePlan) Flush(*Batch) {}

// The parameters of all waves stay as they were written until the batch is reset.
func TestStepsStay(t *testing.T) {
	p := newScript()
	b := NewBatch(p)
	b.Reset(nil, 0)
	var kept [][]byte
	for range 300 {
		b.Add(&Message{Value: []byte("put order 1; put item 1; put item 2")}, false)
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
