package console

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/operate"
)

// topicPage is a topic with all of its partitions.
type topicPage struct {
	Consumer, Topic string
	Partitions      []partition
	Former          []operate.Status // of the topic that was made again
}

// topic shows all partitions of a topic.
func (c *console) topic(q *request) {
	s, at, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	t := topicPage{Consumer: q.text("consumer"), Topic: q.text("topic")}
	for _, p := range s.all {
		if p.Consumer == t.Consumer && p.Topic == t.Topic {
			t.Partitions = append(t.Partitions, p)
		}
	}
	for _, f := range s.Streams {
		if f.Former && f.Consumer == t.Consumer && f.Topic == t.Topic {
			t.Former = append(t.Former, f)
		}
	}
	if len(t.Partitions) == 0 {
		c.failed(q, fmt.Errorf("%v is not known", operate.Name{Consumer: t.Consumer, Topic: t.Topic, Partition: operate.Any}))
		return
	}
	c.render(q, "topic.html", shown{
		Title: t.Topic, Tab: "overview", Now: at, Refresh: true, State: s.Summary, Data: t, Command: "idemgen stream list --consumer " + quoted(t.Consumer),
	})
}
