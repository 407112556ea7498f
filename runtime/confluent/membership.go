package confluent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// membership is whether the brokers answer this process, and whether its group has members.
type membership struct {
	brokers string
	topics  []string
	session string // how long the group waits for a member that died

	// member: the group shared its partitions out, perhaps none for this member, and has not
	// forgotten it since.
	member      bool
	wasMember   bool  // at any time
	unreachable error // why the brokers, or a topic, cannot be asked; nil if they answer
	alarms      int   // how often the client said that all brokers are down
	cause       string
	told        *string // what the sink was told last; nil before that
}

// news returns what the sink must be told, nil if all is well; changed is false if it was told
// that already.
func (m *membership) news() (why error, changed bool) {
	switch {
	case m.unreachable != nil:
		why = m.unreachable
	case !m.member && m.wasMember:
		why = errors.New("the group has forgotten this member, which joins it again")
	case !m.member:
		why = fmt.Errorf("the group has not shared its partitions out yet; for a member that died without leaving (kill -9) it waits until its session is over, at most %s", m.session)
	}
	text := fmt.Sprint(why)
	changed = m.told == nil || *m.told != text
	m.told = &text
	return why, changed
}

// tellGroup tells the sink what is wrong with the membership, if that has changed.
func (r *run) tellGroup() {
	if why, changed := r.group.news(); changed {
		r.sink.Group(why)
	}
}

// shared notes that the group has shared its partitions out.
func (m *membership) shared() { m.member, m.wasMember = true, true }

// forgot notes that the group has forgotten this member.
func (m *membership) forgot() { m.member, m.wasMember = false, true }

// statistics reads from the client's statistics that the group's coordinator is in touch. With
// group.protocol=consumer that is what makes a member, and a member for which no partition is
// left is told nothing else. With classic, the rebalance callback tells it.
func (m *membership) statistics(text string) {
	var seen struct {
		Group struct {
			State string `json:"state"`
		} `json:"cgrp"`
	}
	if json.Unmarshal([]byte(text), &seen) == nil && seen.Group.State == "up" {
		m.shared()
	}
}

// brokerError notes what the client reports of brokers. That all are down is believed at once;
// whether it is so, and when it is over, the next comparison finds out, which must come soon.
func (m *membership) brokerError(e kafka.Error) (allDown bool) {
	switch e.Code() {
	case kafka.ErrTransport, kafka.ErrResolve, kafka.ErrSsl, kafka.ErrAuthentication:
		m.cause = reason(e.Error())
	case kafka.ErrAllBrokersDown:
		m.alarms++
		if m.unreachable == nil {
			m.unreachable = m.noAnswer(m.cause)
		}
		return true
	}
	return false
}

// answered takes in what brokers answered to a question for the group's topics. Brokers that
// answered before an alarm tell nothing of what is now.
func (m *membership) answered(a topicsAnswer) {
	if why := m.trouble(a); why != nil || a.alarms == m.alarms {
		m.unreachable = why
	}
}

func (m *membership) trouble(a topicsAnswer) error {
	if a.err != nil {
		return m.noAnswer(a.err.Error())
	}
	for _, name := range m.topics {
		if _, ok := a.topics[name]; !ok {
			return fmt.Errorf("topic %s does not exist", name)
		}
	}
	return nil
}

func (m *membership) noAnswer(cause string) error {
	if cause == "" {
		cause = "all are down"
	}
	return fmt.Errorf("no broker of %s answers: %s", m.brokers, cause)
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
