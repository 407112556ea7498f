package franz

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// fetcher tells the client that fetches which partitions, and from where. What was fetched before
// a call is not polled after it.
type fetcher struct {
	client *kgo.Client
	topics map[string]idem.UUID     // that the client knows, by the ids that it may know them by
	ends   map[idem.Partition]int64 // of logs, as the last fetches said
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

// forgetOther forgets a topic that was made again: the client continues to ask for the id that
// it knows. All its partitions are taken over again, as this one.
func (f *fetcher) forgetOther(at member.At) {
	topic := at.Partition.Topic
	if id, known := f.topics[topic]; known && id != at.TopicID {
		f.client.PurgeTopicsFromConsuming(topic)
	}
	f.topics[topic] = at.TopicID
}

// Seek adds the partition anew: the client then looks at nothing that it knew of it.
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
