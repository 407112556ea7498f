// Package sampler reads the newest records of a topic, without a group, and commits nothing. It
// must not import any package of this module but internal/gen/survey and internal/gen/syntax.
package sampler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/gen/survey"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// patience is how long the brokers may take for an answer, and for the next records.
const patience = 10 * time.Second

// Of surveys the newest records of a topic, so many in all, up to the ends of its partitions at
// the start. Only one fetch is under way at a time, and no value is kept.
func Of(ctx context.Context, opts []kgo.Opt, topic string, most int) (*survey.Report, error) {
	client, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{
		kgo.MaxConcurrentFetches(1), kgo.FetchMaxBytes(8 << 20), kgo.FetchMaxPartitionBytes(1 << 20),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // one may be the last of a partition
	})...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	starts, ends, err := bounds(ctx, client, topic)
	if err != nil {
		return nil, err
	}
	from := spread(starts, ends, most)
	if len(from) == 0 {
		return nil, fmt.Errorf("topic %s has no records: there is nothing to learn from it yet", topic)
	}
	s := survey.New(topic, len(ends))
	n, err := read(ctx, client, topic, from, ends, s.Add)
	if err == nil && n == 0 {
		err = fmt.Errorf("topic %s has offsets, and no record was read: all may be of aborted transactions, or the brokers stopped responding", topic)
	}
	return s.Report(), err
}

// bounds returns the first and the next offset of each partition.
func bounds(ctx context.Context, client *kgo.Client, topic string) (starts, ends map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return nil, nil, fmt.Errorf("the brokers do not respond: %w", err)
	}
	admin := kadm.NewClient(client)
	details, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	switch d, is := details[topic]; {
	case !is || errors.Is(d.Err, kerr.UnknownTopicOrPartition) || errors.Is(d.Err, kerr.InvalidTopicException):
		all, err := admin.ListTopics(ctx)
		return nil, nil, errors.Join(syntax.Unknown("the cluster, as this client sees it,", "topic", topic, all.Names()), err)
	case d.Err != nil:
		return nil, nil, fmt.Errorf("topic %s: %w", topic, d.Err)
	}
	first, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	next, err := admin.ListCommittedOffsets(ctx, topic)
	if err != nil {
		return nil, nil, err
	}
	starts, ends = map[int32]int64{}, map[int32]int64{}
	for p, o := range next[topic] {
		if err := errors.Join(o.Err, first[topic][p].Err); err != nil {
			return nil, nil, fmt.Errorf("partition %d of topic %s: %w", p, topic, err)
		}
		starts[p], ends[p] = first[topic][p].Offset, o.Offset
	}
	return starts, ends, nil
}

// spread says from which offset to read the partitions that have records. Each gives as many as
// the others, unless it has fewer.
func spread(starts, ends map[int32]int64, most int) map[int32]int64 {
	from := map[int32]int64{}
	partitions := slices.SortedFunc(maps.Keys(ends), func(a, b int32) int {
		return int(min(ends[a]-starts[a], 1<<30) - min(ends[b]-starts[b], 1<<30))
	})
	left := int64(most)
	for i, p := range partitions { // those with the fewest records first
		others := int64(len(partitions) - i)
		if n := min(ends[p]-starts[p], (left+others-1)/others); n > 0 {
			from[p] = ends[p] - n
			left -= n
		}
	}
	return from
}

// read hands the records over, and returns their number.
func read(ctx context.Context, client *kgo.Client, topic string, from, ends map[int32]int64, add func(survey.Record)) (n int, err error) {
	offsets, open := map[int32]kgo.Offset{}, map[int32]bool{}
	for p, o := range from {
		offsets[p], open[p] = kgo.NewOffset().At(o), true
	}
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets})
	for len(open) > 0 {
		waiting, cancel := context.WithTimeout(ctx, patience)
		fetches := client.PollFetches(waiting)
		late := waiting.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if late && fetches.NumRecords() == 0 { // compaction may have removed the last ones
			return n, nil
		}
		if err := fetches.Err(); err != nil && !late {
			return n, fmt.Errorf("read topic %s: %w", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset < ends[r.Partition] && !r.Attrs.IsControl() {
				n++
				add(recordOf(r))
			}
			if r.Offset >= ends[r.Partition]-1 && open[r.Partition] {
				delete(open, r.Partition)
				client.PauseFetchPartitions(map[string][]int32{topic: {r.Partition}})
			}
		})
	}
	return n, nil
}

func recordOf(r *kgo.Record) survey.Record {
	of := survey.Record{Partition: r.Partition, Time: r.Timestamp, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		of.Headers = append(of.Headers, survey.Header{Name: h.Key, Value: h.Value})
	}
	return of
}
