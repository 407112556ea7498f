package engine

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Where records are parked, an effect may begin once no earlier record of its record key is before
// it. Record keys are those that were sent: an effect has its key unpacked.
func TestEffectsThatMayBegin(t *testing.T) {
	sent := func(offset int64, key string) wire.Message {
		m := wire.Message{Offset: offset}
		if key != "" {
			m.Key = []byte("frame " + key)
		}
		return m
	}
	records := []wire.Message{sent(3, "a"), sent(4, "b"), sent(5, ""), sent(6, "a"), sent(7, ""), sent(8, "c"), sent(9, "b")}
	var waiting, parking []wire.Effect
	for i := 1; i < len(records); i++ { // the first record has no effect
		m := &records[i]
		if m.Key != nil {
			m = m.UnpackedKey(m.Key[len("frame "):], nil)
		}
		waiting = append(waiting, wire.Effect{Message: m, Policy: &wire.FailurePolicy{}})
		parking = append(parking, wire.Effect{Message: m, Policy: &wire.FailurePolicy{Park: i != 3}})
	}
	parks := &wire.Topic{}
	parks.OnFailure.Park = true
	for name, c := range map[string]struct {
		topic   *wire.Topic
		waiting []wire.Effect
		want    string
	}{
		"a topic that parks":       {parks, waiting, "[4 5 7 8]"},
		"an event that does not":   {&wire.Topic{}, parking, "[4 5 6 7 8]"},
		"a topic that parks none":  {&wire.Topic{}, waiting, "[4 5 6 7 8 9]"},
		"no effect of the records": {parks, nil, "[]"},
	} {
		got := []int64{}
		for _, e := range mayBegin(c.topic, records, c.waiting) {
			got = append(got, e.Message.Offset)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v may begin, want %s", name, got, c.want)
		}
	}
}
