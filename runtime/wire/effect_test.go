package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// paying is a plan of events with an effect: the value of a record is the key and its place.
type paying struct {
	rows Rows
	read func([]byte) error
	fail error
}

func (p *paying) Flush(b *Batch) { b.Write("INSERT", &p.rows) }

func (p *paying) Add(b *Batch, m *Message) error {
	if fresh, err := b.Claim("Paid", Key{m.Value[0]}, 7, 9, m.Value[1] == 'h'); !fresh {
		return err
	}
	if ok, err := b.Effect(m, Effect{Event: "Paid", Read: p.read}); !ok {
		return err
	}
	p.rows.Row().Int4(1)
	return p.fail
}

func paid(texts ...string) (all []Message) {
	for i, text := range texts {
		all = append(all, Message{Offset: int64(i), Value: []byte(text)})
	}
	return all
}

// A record waits until the result of its call is known. Then its rows depend on the result, if the
// event can read it.
func TestEventsWaitForTheirEffects(t *testing.T) {
	p := &paying{}
	b := NewBatch(p)
	policy := &FailurePolicy{}
	b.Reset(nil)
	b.Effects(nil)
	m := paid("as")[0]
	if o, err := b.Add(&m, policy); o != Waiting || err != nil {
		t.Fatalf("%v, %v", o, err)
	}
	waiting, done := b.Awaited()
	if len(waiting) != 1 || len(done) != 0 {
		t.Fatalf("%d effects wait, %d have results", len(waiting), len(done))
	}
	if e := waiting[0]; e.Message != &m || e.Key != (Key{'a'}) || e.Policy != policy || e.Content != 7 || e.Print != 9 {
		t.Errorf("%+v", e)
	}
	if steps, claims := b.Finish(); len(steps) != 0 || len(claims) != 1 {
		t.Errorf("%d steps, %d claims", len(steps), len(claims))
	}
	seen := ""
	p.read = func(r []byte) error {
		if seen = string(r); seen == "bad" {
			return errors.New("unreadable")
		}
		return nil
	}
	for result, want := range map[string]string{"good": "0 <nil> 1 1 1", "bad": "0 unreadable 0 0 0"} {
		b.Reset(nil)
		b.Effects(map[int64]EffectResult{0: {Result: []byte(result)}, 1: {}})
		o, err := b.Add(&m, policy)
		steps, claims := b.Finish()
		_, done := b.Awaited()
		if got := fmt.Sprint(int(o), " ", err, " ", len(steps), " ", len(claims), " ", len(done)); got != want || seen != result {
			t.Errorf("%s: %s after %q, want %s", result, got, seen, want)
		}
	}
}

// What a record that becomes a dead letter has claimed and called is taken back, and nothing of
// the records before it. Its shared keys are remembered: one of them may be known.
func TestGivingUpTakesBackOneRecord(t *testing.T) {
	p := &paying{}
	b := NewBatch(p)
	b.Reset(nil)
	b.Effects(map[int64]EffectResult{0: {}, 3: {}})
	for i, m := range paid("as", "bs", "ch") {
		if _, err := b.Add(&m, &FailurePolicy{}); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	GiveUp(b) // c, whose key is in the chain
	state := func() string {
		waiting, done := b.Awaited()
		return fmt.Sprintf("%d wait, %d done, %d claims, hidden %v", len(waiting), len(done), len(b.keys.claims), b.Hidden())
	}
	if got := state(); got != "1 wait, 1 done, 2 claims, hidden []" {
		t.Errorf("without the third: %s", got)
	}
	p.fail = errors.New("refused after the claim")
	last := Message{Offset: 3, Value: []byte("ds")}
	if _, err := b.Add(&last, &FailurePolicy{}); err != p.fail {
		t.Errorf("the fourth: %v", err)
	}
	if got, want := state(), fmt.Sprintf("1 wait, 1 done, 2 claims, hidden %v", []Key{{'d'}}); got != want {
		t.Errorf("without the fourth: %s, want %s", got, want)
	}
	p.fail = nil
	for key, want := range map[string]Outcome{"as": Resent, "ch": Waiting, "ds": Waiting} {
		again := Message{Offset: 9, Value: []byte(key)}
		if o, err := b.Add(&again, &FailurePolicy{}); o != want || err != nil {
			t.Errorf("%s again: %v, %v, want %v", key, o, err, want)
		}
		if want == Waiting {
			GiveUp(b)
		}
	}
}

func TestEffectsOfOtherContentConflict(t *testing.T) {
	for name, c := range map[string]struct {
		e          Effect
		def, print uint32
		want       bool
	}{
		"the same":           {Effect{Content: 1, Print: 2}, 1, 2, false},
		"other content":      {Effect{Content: 1, Print: 2}, 1, 3, true},
		"another definition": {Effect{Content: 1, Print: 2}, 4, 3, false},
		"no definition":      {Effect{Print: 2}, 0, 3, false},
	} {
		if got := c.e.Conflicts(c.def, c.print); got != c.want {
			t.Errorf("%s: conflicts %t", name, got)
		}
	}
	if d := (&EffectTerms{}).Term(); d != 30*time.Second {
		t.Errorf("a lease lasts %v", d)
	}
	if d := (&EffectTerms{Lease: time.Minute}).Term(); d != time.Minute {
		t.Errorf("a lease lasts %v", d)
	}
}

func TestServiceFindsItsTopics(t *testing.T) {
	plan := func() Plan { return &stepping{} }
	s := &Service{Topics: []Topic{{Name: "a", Effects: 3, NewPlan: plan}, {Name: "b", Effects: 5, NewPlan: plan}, {Name: "c", Effects: 4, NewPlan: plan}}}
	if s.Topic("b") != &s.Topics[1] || s.Topic("d") != nil || s.EffectTimeout() != 5 {
		t.Errorf("%v, %v, %v", s.Topic("b"), s.Topic("d"), s.EffectTimeout())
	}
	if got := fmt.Sprint(s.Topics[0].Statements()); got != "[FIRST SECOND]" {
		t.Errorf("statements %s", got)
	}
}

// stepping is a plan with two statements, whose records are calls of a handler.
type stepping struct{ first, second Rows }

func (p *stepping) Flush(b *Batch) {
	b.Write("FIRST", &p.first)
	b.Write("SECOND", &p.second)
}

func (p *stepping) Add(b *Batch, m *Message) error {
	if len(m.Value) > 0 {
		if fresh, err := b.Claim("Called", Key{m.Value[0]}, 1, 1, false); !fresh {
			return err
		}
	}
	b.Call(m, Call{Event: "Called", Fn: func(context.Context, Tx) error { return nil }})
	return nil
}

// The ids of what a record sends are those of its event: of its key, else of its place and time,
// of the consumer and of the topic. They differ by subject and number.
func TestIDsOfSentEventsAreThoseOfTheRecord(t *testing.T) {
	at := time.UnixMilli(1795424400000)
	ids := func(consumer string, topic UUID, m Message) []UUID {
		b := NewBatch(&stepping{})
		b.Reset(nil)
		b.From(consumer, topic)
		if _, err := b.Add(&m, &FailurePolicy{}); err != nil {
			t.Fatal(err)
		}
		step := []UUID{b.OutboxID(&m, "s"), b.OutboxID(&m, "s"), b.OutboxID(&m, "z")}
		steps, _ := b.Finish()
		sent := steps[0].Call.EventIDs()
		return append(step, sent.Next("s"), sent.Next("s"), sent.Next("z"))
	}
	seen := map[UUID]string{}
	all := func(name string, list []UUID) {
		for i, id := range list {
			if other := seen[id]; other != "" || id[6]>>4 != 8 || id[8]>>6 != 2 {
				t.Errorf("%s %d: %v, as %q", name, i, id, other)
			}
			seen[id] = fmt.Sprint(name, i)
		}
	}
	keyed, placed := Message{Value: []byte("k"), Partition: 1, Offset: 2, Time: at}, Message{Partition: 1, Offset: 2, Time: at}
	all("key", ids("c", UUID{1}, keyed))
	all("place", ids("c", UUID{1}, placed))
	for name, m := range map[string]Message{
		"another key": {Value: []byte("l")}, "another partition": {Partition: 2, Offset: 2, Time: at}, "another offset": {Partition: 1, Offset: 3, Time: at},
		"another time": {Partition: 1, Offset: 2, Time: at.Add(time.Millisecond)},
	} {
		all(name, ids("c", UUID{1}, m))
	}
	all("another consumer", ids("d", UUID{1}, placed))
	all("another topic", ids("c", UUID{2}, placed))
	moved := Message{Value: []byte("k"), Partition: 5, Offset: 9}
	for i, id := range ids("d", UUID{3}, moved) {
		if seen[id] != fmt.Sprint("key", i) {
			t.Errorf("the key's event elsewhere has other ids: %d, %q", i, seen[id])
		}
	}
	for i, id := range ids("c", UUID{1}, placed) {
		if seen[id] != fmt.Sprint("place", i) {
			t.Errorf("the same record again has other ids: %d, %q", i, seen[id])
		}
	}
}
