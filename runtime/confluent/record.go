package confluent

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
)

// record converts a polled record into a message. The client has already copied the bytes out of C
// memory, so the message owns them. Null and empty values stay distinct.
func record(p idem.Partition, m *kafka.Message) (idem.Message, int) {
	size := len(m.Key) + len(m.Value)
	out := idem.Message{
		Topic: p.Topic, Partition: p.Number, Offset: int64(m.TopicPartition.Offset), LeaderEpoch: -1,
		Key: m.Key, Value: m.Value,
	}
	if e := m.TopicPartition.LeaderEpoch; e != nil {
		out.LeaderEpoch = *e
	}
	if m.TimestampType != kafka.TimestampNotAvailable {
		out.Time = m.Timestamp.UTC()
		out.Appended = m.TimestampType == kafka.TimestampLogAppendTime
	}
	if len(m.Headers) > 0 {
		out.Headers = make([]idem.Header, len(m.Headers))
		for i, h := range m.Headers {
			out.Headers[i] = idem.Header{Name: h.Key, Value: h.Value}
			size += len(h.Key) + len(h.Value)
		}
	}
	return out, size
}
