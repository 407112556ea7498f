package franz

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// fetcher controls which partitions the fetching client reads, and from where. After a call,
// records that were fetched before it are not polled.
type fetcher struct {
	client *kgo.Client
	topics map[string]idem.UUID     // that the client knows, with the ids under which it may know them
	ends   map[idem.Partition]int64 // of logs, as of the last fetches
}

func newFetcher(c *kgo.Client) *fetcher {
	return &fetcher{client: c, topics: map[string]idem.UUID{}, ends: map[idem.Partition]int64{}}
}

func (f *fetcher) Assign(list []member.At) error {
	added := map[string]map[int32]kgo.Offset{}
	for _, at := range list {
		f.forgetOther(at)
		offset := kgo.NewOffset().At(at.Offset)
		if at.Epoch >= 0 {
			offset = offset.WithEpoch(at.Epoch)
		}
		topic := at.Partition.Topic
		if added[topic] == nil {
			added[topic] = map[int32]kgo.Offset{}
		}
		added[topic][at.Partition.Number] = offset
	}
	f.client.AddConsumePartitions(added)
	return nil
}

// forgetOther makes the client forget a topic that was recreated, because the client would
// continue to use the id that it knows. All partitions of the topic are taken over again, like
// this one.
func (f *fetcher) forgetOther(at member.At) {
	topic := at.Partition.Topic
	if id, known := f.topics[topic]; known && id != at.TopicID {
		f.client.PurgeTopicsFromConsuming(topic)
	}
	f.topics[topic] = at.TopicID
}

// Seek removes and adds the partition, so the client does not use what it knew about it.
func (f *fetcher) Seek(to member.At) error {
	f.client.RemoveConsumePartitions(one(to.Partition))
	delete(f.ends, to.Partition) // it may be another topic
	return f.Assign([]member.At{to})
}

func (f *fetcher) Pause(id idem.Partition) error {
	f.client.PauseFetchPartitions(one(id))
	return nil
}

func (f *fetcher) Resume(id idem.Partition) error {
	f.client.ResumeFetchPartitions(one(id))
	return nil
}

func (f *fetcher) Unassign(list []idem.Partition) error {
	for _, id := range list {
		f.client.RemoveConsumePartitions(one(id))
		delete(f.ends, id)
	}
	return nil
}

func (f *fetcher) End(id idem.Partition) int64 {
	if end, ok := f.ends[id]; ok {
		return end
	}
	return -1
}

func one(id idem.Partition) map[string][]int32 { return map[string][]int32{id.Topic: {id.Number}} }
