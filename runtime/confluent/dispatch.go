package confluent

import (
	"context"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// dispatch is one call of Send: records on their way through the client.
type dispatch struct {
	client  *kafka.Producer
	records []outbox.Record
	errs    []error // why a record is not known to be in Kafka; nil if it is
	answers chan kafka.Event
	pending int   // given to the client, without an answer
	ready   []int // to be given to the client
	behind  []int // the next record of the same aggregate; 0 is none
}

func newDispatch(client *kafka.Producer, records []outbox.Record) *dispatch {
	d := &dispatch{
		client: client, records: records, errs: make([]error, len(records)),
		answers: make(chan kafka.Event, len(records)), behind: make([]int, len(records)),
	}
	return d
}

// chains makes each record wait for the one before it of its aggregate, and returns the first
// ones.
func (d *dispatch) chains() (first []int) {
	type aggregate struct{ topic, key string }
	last := map[aggregate]int{}
	for i, r := range d.records {
		a := aggregate{r.Topic, string(r.Key)}
		if before, ok := last[a]; ok {
			d.behind[before] = i
		} else {
			first = append(first, i)
		}
		last[a] = i
	}
	return first
}

// together are all records, for a transaction: it ends the effect of all if one fails.
func (d *dispatch) together() (first []int) {
	for i := range d.records {
		first = append(first, i)
	}
	return first
}

func (d *dispatch) all(err error) []error {
	for i := range d.errs {
		d.errs[i] = err
	}
	return d.errs
}

// fullPause is how long a full queue of the client is waited for, while none of the records
// in it are this call's.
const fullPause = 10 * time.Millisecond

// send gives records to the client, and waits until each has an answer or ctx ends.
func (d *dispatch) send(ctx context.Context, first []int) {
	for i := range d.errs {
		d.errs[i] = outbox.ErrHeldBack
	}
	d.ready = first
	for {
		full := d.produce(ctx)
		if d.pending == 0 && len(d.ready) == 0 {
			return
		}
		var again <-chan time.Time
		if full && d.pending == 0 {
			again = time.After(fullPause)
		}
		select {
		case e := <-d.answers:
			d.answered(e)
		case <-again:
		case <-ctx.Done():
			d.giveUp(ctx.Err())
			return
		}
	}
}

// produce gives the client what is ready, until that is all or the client's queue is full.
func (d *dispatch) produce(ctx context.Context) (full bool) {
	for len(d.ready) > 0 && ctx.Err() == nil {
		i := d.ready[0]
		err := d.client.Produce(message(&d.records[i], i), d.answers)
		if e, ok := err.(kafka.Error); ok && e.Code() == kafka.ErrQueueFull {
			return true
		}
		d.ready = d.ready[1:]
		if err != nil {
			d.errs[i] = err
			continue
		}
		d.errs[i] = errOnItsWay
		d.pending++
	}
	return false
}

// answered takes in what became of a record. The next one of its aggregate follows if Kafka
// has it.
func (d *dispatch) answered(e kafka.Event) {
	m, ok := e.(*kafka.Message)
	if !ok {
		return
	}
	i := m.Opaque.(int)
	d.pending--
	d.errs[i] = m.TopicPartition.Error
	if next := d.behind[i]; d.errs[i] == nil && next > 0 {
		d.ready = append(d.ready, next)
	}
}

// giveUp has nothing more sent. What is on its way may still arrive.
func (d *dispatch) giveUp(why error) {
	_ = d.client.Purge(kafka.PurgeQueue | kafka.PurgeNonBlocking) // the relay closes the client next
	for i, err := range d.errs {
		if err == errOnItsWay {
			d.errs[i] = why
		}
	}
}

// message is a record for the client, which copies it.
func message(r *outbox.Record, i int) *kafka.Message {
	m := &kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &r.Topic, Partition: kafka.PartitionAny},
		Key:            r.Key, Value: r.Value, Opaque: i,
	}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, kafka.Header{Key: h.Name, Value: h.Value})
	}
	return m
}
