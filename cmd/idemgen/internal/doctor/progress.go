package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// mostIdle is how long the position of a partition may stay where it is while records wait.
	mostIdle = time.Minute
	// search is how long doctor looks for records that wait.
	search = 3 * time.Second
)

// epochEnds asks where the leader epochs of the ledgers' positions end, as a service does when it
// takes a partition over. It leaves out partitions whose epoch, or whose log, is another one's.
func (k *cluster) epochEnds(ctx context.Context, details kadm.TopicDetails) (map[string]map[int32]int64, error) {
	var q kadm.OffsetForLeaderEpochRequest
	for _, t := range k.Topics {
		d := details[t.Name]
		for p, l := range k.ledgers[t.Name] {
			if _, is := d.Partitions[p]; is && l.Epoch >= 0 && l.topicID == uuidText(d.ID) {
				q.Add(t.Name, p, l.Epoch)
			}
		}
	}
	if len(q) == 0 {
		return nil, nil
	}
	answer, err := k.admin.OffsetForLeaderEpoch(ctx, q)
	if err != nil {
		return nil, err
	}
	ends := map[string]map[int32]int64{}
	for topic, partitions := range answer {
		ends[topic] = map[int32]int64{}
		for p, at := range partitions {
			if at.Err != nil {
				return nil, fmt.Errorf("query the end of leader epoch %d of %s/%d: %w", q[topic][p], topic, p, at.Err)
			}
			ends[topic][p] = at.EndOffset
		}
	}
	return ends, nil
}

// waiting finds the next record of each partition that made no progress for long although the
// group has members. It reads the log: behind the position there may be markers only.
func (k *cluster) waiting(ctx context.Context, t Topic, ends map[int32]kadm.ListedOffset) map[int32]int64 {
	from := map[int32]kgo.Offset{}
	for p, l := range k.ledgers[t.Name] {
		at, was := k.first[place{t.Name, p}]
		moved := k.first != nil && !(was && at == l.Position)
		if age(l.Unmoved) > mostIdle && l.Position < ends[p].Offset && k.members > 0 && !moved {
			from[p] = kgo.NewOffset().At(l.Position)
		}
	}
	if len(from) == 0 {
		return nil
	}
	options := append(k.Kafka[:len(k.Kafka):len(k.Kafka)], kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{t.Name: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxPartitionBytes(1<<10))
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, search)
	defer cancel()
	first := map[int32]*kgo.Record{}
	for len(first) < len(from) && ctx.Err() == nil {
		for r := range client.PollFetches(ctx).RecordsAll() {
			if first[r.Partition] == nil {
				first[r.Partition] = r
			}
		}
	}
	found := map[int32]int64{}
	for p, r := range first {
		if old := time.Since(r.Timestamp); old > mostIdle || old < 0 { // it has hardly just arrived
			found[p] = r.Offset
		}
	}
	return found
}
