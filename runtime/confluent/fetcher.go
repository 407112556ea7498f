package confluent

import "github.com/confluentinc/confluent-kafka-go/v2/kafka"

// fetcher tells the client which partitions to fetch, and from where. Only the polling
// goroutine does that.
type fetcher struct {
	client *kafka.Consumer
	// err is the first error after which it is not known what the client fetches. It ends the
	// run: another one starts from the ledger.
	err error
}

func (f *fetcher) check(err error) {
	if f.err == nil {
		f.err = err
	}
}

// read reads partitions from where the sink said: explicit offset and leader epoch, then
// records are accepted, and at last an explicit Resume, because the client keeps a pause from an
// earlier assignment. With must, the client is answered even if there is nothing to
// assign, as a rebalance callback has to.
func (f *fetcher) read(list []*partition, must bool) {
	var added []kafka.TopicPartition
	for _, p := range list {
		if !p.assigned {
			p.assigned = true
			added = append(added, p.start())
		} else {
			f.seek(p)
		}
	}
	if must || len(added) > 0 {
		f.check(f.client.IncrementalAssign(added))
	}
	for _, p := range list {
		p.cursor.Begin()
		p.silence.heard()
		f.resume(p)
	}
}

// seek moves a partition that is assigned. The client refuses to seek in a partition that
// it stopped reading after an error; then the partition is assigned again.
func (f *fetcher) seek(p *partition) {
	at := []kafka.TopicPartition{p.start()}
	moved, err := f.client.SeekPartitions(at)
	if err == nil && moved[0].Error == nil {
		return
	}
	f.check(f.client.IncrementalUnassign(at))
	f.check(f.client.IncrementalAssign(at))
}

func (f *fetcher) pause(p *partition) {
	if p.assigned && !p.paused {
		p.paused = true
		f.check(f.client.Pause([]kafka.TopicPartition{p.start()}))
	}
}

func (f *fetcher) resume(p *partition) {
	p.paused = false
	f.check(f.client.Resume([]kafka.TopicPartition{p.start()}))
}

// unassign answers the client, too, if none of the partitions was assigned yet.
func (f *fetcher) unassign(list []*partition) {
	var assigned []kafka.TopicPartition
	for _, p := range list {
		if p.assigned {
			assigned = append(assigned, p.start())
		}
	}
	f.check(f.client.IncrementalUnassign(assigned))
}
