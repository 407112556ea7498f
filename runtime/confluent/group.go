package confluent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// group is how this process stands to the brokers and to its group, as the sink is told. It
// belongs to the polling goroutine, but for found.
type group struct {
	joined bool  // partitions were shared out, perhaps none for this member, and it was not forgotten since
	before bool  // it was joined once
	broker error // why the brokers, or a topic, cannot be asked; nil if they answer
	alarms int   // how often the client said that all brokers are down
	cause  string
	told   error // last
	spoke  bool  // the sink was told

	found atomic.Pointer[finding] // any goroutine: what the last look found
}

// finding is whether brokers answered.
type finding struct {
	alarms int // when they were asked
	err    error
}

// why is what the sink is told; nil if all is well.
func (g *group) why() error {
	switch {
	case g.broker != nil:
		return g.broker
	case !g.joined && g.before:
		return errors.New("the group has forgotten this member, which joins it again")
	case !g.joined:
		return errors.New("the group has not shared its partitions out yet")
	}
	return nil
}

// say tells the sink how things stand, if that has changed.
func (r *run) say() {
	why := r.group.why()
	if r.group.spoke && fmt.Sprint(why) == fmt.Sprint(r.group.told) {
		return
	}
	r.group.told, r.group.spoke = why, true
	r.sink.Group(why)
}

// joined notes that the group has shared its partitions out, or has forgotten this member.
func (r *run) joined(is bool) {
	r.group.joined, r.group.before = is, true
	r.say()
}

// counted reads from the client's statistics that the group's coordinator is in touch. With
// group.protocol=consumer that is what makes a member, and a member for which no partition is
// left is told nothing else. With classic, the rebalance callback tells it.
func (r *run) counted(e *kafka.Stats) {
	var seen struct {
		Group struct {
			State string `json:"state"`
		} `json:"cgrp"`
	}
	if json.Unmarshal([]byte(e.String()), &seen) == nil && seen.Group.State == "up" && !r.group.joined {
		r.joined(true)
	}
}

// alarm notes what the client reports of brokers. That all are down is told at once; whether
// it is so, and when it is over, the next look finds out, which comes soon.
func (r *run) alarm(e kafka.Error) {
	switch e.Code() {
	case kafka.ErrTransport, kafka.ErrResolve, kafka.ErrSsl, kafka.ErrAuthentication:
		r.group.cause = reason(e.Error())
	case kafka.ErrAllBrokersDown:
		r.group.alarms++
		r.nextLook = time.Now()
		if r.group.broker == nil {
			r.group.broker = r.silentBrokers(r.group.cause)
			r.say()
		}
	}
}

func (r *run) silentBrokers(cause string) error {
	if cause == "" {
		cause = "all are down"
	}
	return fmt.Errorf("no broker of %s answers: %s", r.brokers, cause)
}

// reason is what a broker's error says without what differs from one try to the next: the
// broker's name, how long it took, how often it happened.
func reason(text string) string {
	text, _, _ = strings.Cut(text, " (after ")
	if _, rest, found := strings.Cut(text, ": "); found {
		text = rest
	}
	return text
}

// judge says what an answer to the question for the group's topics shows.
func (r *run) judge(topics map[string]topic, err error) error {
	if err != nil {
		return r.silentBrokers(err.Error())
	}
	for _, name := range r.sub.Topics {
		if _, ok := topics[name]; !ok {
			return fmt.Errorf("topic %s does not exist", name)
		}
	}
	return nil
}

// learn takes in what the last look found. Brokers that answered before an alarm tell nothing
// of what is now.
func (r *run) learn() {
	f := r.group.found.Swap(nil)
	if f == nil || f.err == nil && f.alarms != r.group.alarms {
		return
	}
	r.group.broker = f.err
	r.say()
}
