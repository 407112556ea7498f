package confluent

import "github.com/confluentinc/confluent-kafka-go/v2/kafka"

// hint is an offset to commit to Kafka, for people who look at the group's lag. The position
// is in the ledger: nothing is lost if a commit fails, so errors are only logged.
type hint struct {
	t      *tenure
	offset int64
}

// sendHint commits what became durable, without waiting.
func (r *run) sendHint() {
	if r.busy.hint.Load() {
		return
	}
	var hints []hint
	for _, t := range r.parts {
		if t.state == reading {
			hints = append(hints, hint{t, r.sink.Durable(t.id)})
		}
	}
	r.commit(hints)
}

// commit commits those hints that are news. The channel is closed when that is done.
func (r *run) commit(hints []hint) <-chan struct{} {
	done := make(chan struct{})
	var list []kafka.TopicPartition
	for _, h := range hints {
		if h.offset >= 0 && h.offset != h.t.hinted.Load() {
			list = append(list, kafka.TopicPartition{
				Topic: &h.t.id.Topic, Partition: h.t.id.Number, Offset: kafka.Offset(h.offset),
			})
		}
	}
	if len(list) == 0 {
		close(done)
		return done
	}
	r.busy.hint.Store(true)
	r.calls.Go(func() {
		defer close(done)
		defer r.busy.hint.Store(false)
		if _, err := r.client.CommitOffsets(list); err != nil {
			r.log.Debug("the group's offsets were not committed; the ledger holds the position", "err", err)
			return
		}
		for _, h := range hints {
			h.t.hinted.Store(h.offset)
		}
	})
	return done
}
