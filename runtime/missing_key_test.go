package idem_test

import (
	"context"
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/wire"
)

// lenient is a plan with missing: offset, whose former source is the header "old".
type lenient struct {
	plan
	seen *[]idem.Key
}

func (p *lenient) Add(b *wire.Batch, m *wire.Message) error {
	p.key.Start("0123456789abcdef")
	p.key.HeaderOrOffset(m, "key")
	key, err := p.key.Sum("Test")
	if err != nil {
		return err
	}
	p.key.Start("another source..")
	p.key.Header(m, "old")
	b.Also(p.key.Former())
	if fresh, err := b.Claim("Test", key, &wire.Content{Def: 1}, 0, false); !fresh {
		return err
	}
	b.Call(m, wire.Call{Event: "Test", Fn: func(ctx context.Context, _ idem.Tx) error {
		d, _ := idem.DeliveryFrom(ctx)
		*p.seen = append(*p.seen, d.Key)
		return nil
	}})
	return nil
}

// A record without the key's header counts by its offset and is counted; one that has the
// former header is known by that, also to its handler.
func TestKeylessRecordsCountByTheirOffset(t *testing.T) {
	t.Parallel()
	db := database(t)
	var seen []idem.Key
	c := service{edit: func(s *wire.Service) {
		s.Topics[0].NewPlan = func() wire.Plan { return &lenient{seen: &seen} }
	}}.consumer(t, db)
	w := own(t, c)
	msgs := records(0, "x", "x", "x", "x", "x", "x")
	for i, name := range []string{2: "key", 3: "old", 4: "old", 5: "key"} {
		if name != "" {
			msgs[i].Headers = []idem.Header{{Name: name, Value: []byte("1")}}
		}
	}
	msgs[5].Headers = append(msgs[5].Headers, idem.Header{Name: "old", Value: []byte("2")})
	want(t, "result", apply(t, w, msgs), idem.Result{Applied: 4, Keyless: 2, Duplicates: 2})
	want(t, "counted", c.Stats().Keyless, 2)
	if want(t, "calls", len(seen), 4); !t.Failed() {
		none := idem.Key{}
		want(t, "a key is missing, or there is one too many", seen[0] != none || seen[1] != none || seen[2] == none || seen[3] == none, false)
	}
}
