package confluent

import (
	"context"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// heardEnds tells the sink where logs end, of the partitions that are read: the client hears
// it with every fetch.
func (r *run) heardEnds() {
	for _, t := range r.parts {
		if !t.fetched() {
			continue
		}
		if _, high, err := r.client.GetWatermarkOffsets(t.id.Topic, t.id.Number); err == nil && high >= 0 {
			r.sink.End(t.id, high)
		}
	}
}

// fetched reports whether the client asks the broker for records of the partition.
func (t *tenure) fetched() bool { return t.assigned && t.state == reading && !t.paused }

// askEnds asks the brokers where logs end, and tells the sink. What is not answered is asked
// again at the next look.
func (r *shared) askEnds(list []idem.Partition) error {
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.answer)
	defer cancel()
	question := map[kafka.TopicPartition]kafka.OffsetSpec{}
	for i := range list {
		question[kafka.TopicPartition{Topic: &list[i].Topic, Partition: list[i].Number}] = kafka.LatestOffsetSpec
	}
	answer, err := r.admin.ListOffsets(ctx, question, kafka.SetAdminRequestTimeout(r.answer))
	if err != nil {
		return err
	}
	for tp, info := range answer.ResultInfos {
		if info.Error.Code() == kafka.ErrNoError && info.Offset >= 0 {
			r.sink.End(partitionOf(tp), int64(info.Offset))
		}
	}
	return nil
}

// gauge is how often the sink is told what the client has heard.
const gauge = time.Second
