package member

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// membership is whether the brokers answer this process, and whether its group has members.
type membership struct {
	brokers string
	topics  []string
	session string // how long the group waits for a member that died

	// member: the group shared its partitions out, perhaps none for this member, and has not
	// forgotten it since.
	member      bool
	wasMember   bool    // at any time
	unreachable error   // why the brokers, or a topic, cannot be asked; nil if they answer
	alarms      int     // how often the client said that all brokers are down
	cause       cause   // of this outage
	told        *string // what the sink was told last; nil before that
}

// cause is why brokers cannot be reached. That questions have no answer in time follows from
// others, and so does a connection that ends from a password that is refused.
type cause struct {
	text string
	says int
}

// How much a cause says. One that says more takes the place of another.
const (
	unanswered = iota
	unconnected
	denied
)

// Denied is the error of brokers that do not let the client in.
type Denied struct{ Cause string }

func (e *Denied) Error() string { return e.Cause }

// learn keeps the first of the causes of an outage that say most.
func (m *membership) learn(c cause) {
	if m.cause.text == "" || c.says > m.cause.says {
		m.cause = c
	}
}

// news returns what the sink must be told, nil if all is well; changed is false if it was told
// that already.
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

// tellGroup tells the sink what is wrong with the membership, if that has changed.
func (m *Member) tellGroup() {
	if why, changed := m.group.news(); changed {
		m.sink.Group(why)
	}
}

// shared notes that the group has shared its partitions out.
func (m *membership) shared() { m.member, m.wasMember = true, true }

// forgot notes that the group has forgotten this member.
func (m *membership) forgot() { m.member = false }

// Begin tells the sink how the group stands. It is called before the first poll.
func (m *Member) Begin() { m.tellGroup() }

// Shared tells that the group has shared its partitions out, or that its coordinator is in touch.
func (m *Member) Shared() {
	m.group.shared()
	m.tellGroup()
}

// BrokerFailed notes why a broker cannot be reached, or does not let the client in.
func (m *Member) BrokerFailed(why error) {
	c := cause{why.Error(), unconnected}
	if _, is := errors.AsType[*Denied](why); is {
		c.says = denied
	}
	m.group.learn(c)
}

// AllBrokersDown tells that the client reaches no broker. That is believed at once; whether it is
// so, and when it is over, the next comparison finds out, which must come soon.
func (m *Member) AllBrokersDown() {
	m.group.allDown()
	m.comparison.next = time.Now()
	m.tellGroup()
}

// Unreachable reports whether the sink was told that brokers, or a topic, cannot be asked.
func (m *Member) Unreachable() bool { return m.group.unreachable != nil }

// PositionLost tells that the client lost a position and reads the partition no more. Nil is any
// of them.
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

// answered takes in what brokers answered to a question for the group's topics. Brokers that
// answered before an alarm tell nothing of what is now.
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
