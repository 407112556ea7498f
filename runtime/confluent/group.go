package confluent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
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
	sink   idem.Sink

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
func (g *group) say() {
	why := g.why()
	if g.spoke && fmt.Sprint(why) == fmt.Sprint(g.told) {
		return
	}
	g.told, g.spoke = why, true
	g.sink.Group(why)
}

// join notes that the group has shared its partitions out, or has forgotten this member.
func (g *group) join(is bool) {
	g.joined, g.before = is, true
	g.say()
}

// counted reads from the client's statistics that the group's coordinator is in touch. With
// group.protocol=consumer that is what makes a member, and a member for which no partition is
// left is told nothing else. With classic, the rebalance callback tells it.
func (g *group) counted(e *kafka.Stats) {
	var seen struct {
		Group struct {
			State string `json:"state"`
		} `json:"cgrp"`
	}
	if json.Unmarshal([]byte(e.String()), &seen) == nil && seen.Group.State == "up" && !g.joined {
		g.join(true)
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
		r.next.compare = time.Now()
		if r.group.broker == nil {
			r.group.broker = r.silentBrokers(r.group.cause)
			r.group.say()
		}
	}
}

func (b *broker) silentBrokers(cause string) error {
	if cause == "" {
		cause = "all are down"
	}
	return fmt.Errorf("no broker of %s answers: %s", b.addresses, cause)
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
func (b *broker) judge(asked []string, topics map[string]topic, err error) error {
	if err != nil {
		return b.silentBrokers(err.Error())
	}
	for _, name := range asked {
		if _, ok := topics[name]; !ok {
			return fmt.Errorf("topic %s does not exist", name)
		}
	}
	return nil
}

// learn takes in what the last look found. Brokers that answered before an alarm tell nothing
// of what is now.
func (g *group) learn() {
	f := g.found.Swap(nil)
	if f == nil || f.err == nil && f.alarms != g.alarms {
		return
	}
	g.broker = f.err
	g.say()
}
