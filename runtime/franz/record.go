package franz

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

// record converts a polled record into a message with a copy of its bytes. The client's bytes
// belong to a whole fetch, which one record of a halted partition would keep in memory. Null and
// empty values stay distinct.
func record(topic string, r *kgo.Record) (idem.Message, int) {
	size := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value)
	}
	memory := make([]byte, 0, size)
	own := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		at := len(memory)
		memory = append(memory, b...)
		return memory[at:len(memory):len(memory)]
	}
	out := idem.Message{
		Topic: topic, Partition: r.Partition, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch,
		Key: own(r.Key), Value: own(r.Value),
	}
	if kind := r.Attrs.TimestampType(); kind >= 0 {
		out.Time, out.Appended = r.Timestamp.UTC(), kind == 1
	}
	if len(r.Headers) > 0 {
		out.Headers = make([]idem.Header, len(r.Headers))
		for i, h := range r.Headers {
			out.Headers[i] = idem.Header{Name: h.Key, Value: own(h.Value)}
		}
	}
	return out, size
}
