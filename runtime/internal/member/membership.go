package member

import (
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
	refused     error   // why this process cannot join the group; nil if that is unknown
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
	code string
}

// How specific a cause is. A more specific one replaces another.
const (
	unanswered = iota
	closed
	unconnected
	denied
)

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
		why = m.joining("the group no longer knows this member, which is rejoining")
	case !m.member && m.refused != nil:
		why = m.joining("the group has not assigned its partitions yet")
	case !m.member:
		why = m.joining("the group has not assigned its partitions yet; if a member died without leaving (kill -9), the group waits until that member's session ends, at most %s", m.session)
	}
	text := fmt.Sprint(why)
	changed = m.told == nil || *m.told != text
	m.told = &text
	return why, changed
}

// tellGroup reports problems of the membership to the sink, if they have changed. A member that
// leaves reports nothing: the run may have ended.
func (m *Member) tellGroup() {
	if m.partitions.closed {
		return
	}
	if why, changed := m.group.news(); changed {
		m.sink.Group(why)
	}
}

// shared records that the group has assigned its partitions.
func (m *membership) shared() { m.member, m.wasMember, m.refused = true, true, nil }

// forgot records that the group no longer knows this member.
func (m *membership) forgot() { m.member = false }

// Begin reports the state of the group to the sink. It is called before the first poll.
func (m *Member) Begin() { m.tellGroup() }

// Shared records that the group has assigned its partitions, or that its coordinator responds.
func (m *Member) Shared() {
	m.group.shared()
	m.tellGroup()
}

// JoinFailed records why this process cannot join the group. The client keeps trying. While the
// process is a member, JoinFailed does nothing.
func (m *Member) JoinFailed(why error) {
	if !m.group.member {
		m.group.refused = why
		m.tellGroup()
	}
}

// BrokerFailed records why a broker cannot be reached, or rejects the client.
func (m *Member) BrokerFailed(why error) {
	m.group.learn(causeOf(why, unconnected))
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
		m.learn(causeOf(a.err, unanswered))
		return m.noAnswer()
	}
	for _, name := range m.topics {
		if _, ok := a.topics[name]; !ok {
			return missing(name)
		}
	}
	return nil
}
