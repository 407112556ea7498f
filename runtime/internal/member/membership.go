package member

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// membership tracks whether the brokers respond to this process, and whether it is a member of the
// group.
type membership struct {
	brokers string
	topics  []string
	session string // how long the group waits for a member that died

	// member: the group has assigned its partitions, perhaps none to this member, and still knows
	// this member.
	member      bool
	wasMember   bool    // at any time
	unreachable error   // why the brokers, or a topic, cannot be queried; nil if they respond
	alarms      int     // number of times that the client reported all brokers down
	cause       cause   // of this outage
	told        *string // what was last reported to the sink; nil before that
}

// cause is why brokers cannot be reached. A timeout of a query is a consequence of another cause,
// and a closed connection may be a consequence of a rejected password.
type cause struct {
	text string
	says int
}

// How specific a cause is. A more specific one replaces another.
const (
	unanswered = iota
	unconnected
	denied
)

// Denied is the error of brokers that reject the client's credentials.
type Denied struct{ Cause string }

func (e *Denied) Error() string { return e.Cause }

// learn keeps the first of the most specific causes of an outage.
func (m *membership) learn(c cause) {
	if m.cause.text == "" || c.says > m.cause.says {
		m.cause = c
	}
}

// news returns what must be reported to the sink, nil if there is no problem. changed is false if
// that was already reported.
func (m *membership) news() (why error, changed bool) {
	switch {
	case m.unreachable != nil:
		why = m.unreachable
	case !m.member && m.wasMember:
		why = errors.New("the group no longer knows this member, which is rejoining")
	case !m.member:
		why = fmt.Errorf("the group has not assigned its partitions yet; if a member died without leaving (kill -9), the group waits until that member's session ends, at most %s", m.session)
	}
	text := fmt.Sprint(why)
	changed = m.told == nil || *m.told != text
	m.told = &text
	return why, changed
}

// tellGroup reports problems of the membership to the sink, if they have changed.
func (m *Member) tellGroup() {
	if why, changed := m.group.news(); changed {
		m.sink.Group(why)
	}
}

// shared records that the group has assigned its partitions.
func (m *membership) shared() { m.member, m.wasMember = true, true }

// forgot records that the group no longer knows this member.
func (m *membership) forgot() { m.member = false }

// Begin reports the state of the group to the sink. It is called before the first poll.
func (m *Member) Begin() { m.tellGroup() }

// Shared records that the group has assigned its partitions, or that its coordinator responds.
func (m *Member) Shared() {
	m.group.shared()
	m.tellGroup()
}

// BrokerFailed records why a broker cannot be reached, or rejects the client.
func (m *Member) BrokerFailed(why error) {
	c := cause{why.Error(), unconnected}
	if _, is := errors.AsType[*Denied](why); is {
		c.says = denied
	}
	m.group.learn(c)
}

// AllBrokersDown records that the client reaches no broker. That is reported immediately. The next
// comparison, which must come soon, checks whether it is true, and when it ends.
func (m *Member) AllBrokersDown() {
	m.group.allDown()
	m.comparison.next = time.Now()
	m.tellGroup()
}

// Unreachable reports whether it was reported to the sink that brokers, or a topic, cannot be
// queried.
func (m *Member) Unreachable() bool { return m.group.unreachable != nil }

// PositionLost records that the client lost a position and no longer reads the partition. nil
// means that the partition is unknown.
func (m *Member) PositionLost(p *Partition) {
	m.comparison.positionLost = true
	for _, of := range m.partitions.all {
		of.lost = of.lost || p == nil || p == of
	}
}

func (m *membership) allDown() {
	m.alarms++
	m.unreachable = m.noAnswer()
}

// answered handles the brokers' response to a query for the group's topics. A response from before
// an alarm says nothing about the present.
func (m *membership) answered(a topicsAnswer) {
	if why := m.trouble(a); why != nil || a.alarms == m.alarms {
		m.unreachable = why
	}
	if a.err == nil && a.alarms == m.alarms {
		m.cause = cause{}
	}
}

func (m *membership) trouble(a topicsAnswer) error {
	if a.err != nil {
		c := cause{a.err.Error(), unanswered}
		if _, is := errors.AsType[*Denied](a.err); is {
			c.says = denied
		}
		m.learn(c)
		return m.noAnswer()
	}
	for _, name := range m.topics {
		if _, ok := a.topics[name]; !ok {
			return missing(name)
		}
	}
	return nil
}

func (m *membership) noAnswer() error {
	return fmt.Errorf("no broker of %s responds: %s", m.brokers, cmp.Or(m.cause.text, "all are down"))
}

func missing(topic string) error { return fmt.Errorf("topic %s does not exist", topic) }
