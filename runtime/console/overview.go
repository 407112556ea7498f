package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// severity says who acts about something.
type severity string

const (
	fine    severity = "fine"
	passing severity = "passing" // the service retries by itself, or an operator paused it
	unknown severity = "unknown" // no process reports it
	urgent  severity = "urgent"  // only an operator can help
)

// rank orders severities by how much they need an operator.
func (s severity) rank() int {
	return slices.Index([]severity{urgent, unknown, passing, fine}, s)
}

// snapshot is the state of all services in the database, read at one time.
type snapshot struct {
	Processes []operate.Process
	Topics    []topic
	all       []partition
	Trouble   []trouble // all that makes no progress, what needs an operator first
	Dead      dead
	Calls     operate.Calls
	Outbox    *operate.Outbox
	Summary   summary
}

// topic is a topic as one consumer reads it.
type topic struct {
	Consumer, Topic string
	Partitions      int
	Ready           int
	Worst           severity
	Lag             int64   // of the partitions with a known lag
	Unknown         int     // partitions whose lag is not known
	LagSeconds      float64 // of the partition that is furthest behind
	Rate            float64 // offsets a second
	Rates, Lags     spark
}

// partition is a partition of a topic.
type partition struct {
	operate.Status
	Severity severity
	State    string // as reported, or NOT KNOWN
	Detail   string // of NOT KNOWN: why
}

// trouble is partitions of a topic that make no progress for one cause.
type trouble struct {
	partition  // the first of them
	Partitions []partition
}

// Shown are those that a page names.
func (t *trouble) Shown() []partition { return t.Partitions[:min(len(t.Partitions), mostNamed)] }

// More is how many are not named.
func (t *trouble) More() int { return max(0, len(t.Partitions)-mostNamed) }

const mostNamed = 12

// of reports whether a partition has the same cause.
func (t *trouble) of(p *partition) bool {
	cause := func(p *partition) (code, reason string) {
		if r := p.Reported; r != nil && !r.Silent {
			return r.Code, operate.Common(r.Reason)
		}
		return "", p.Detail
	}
	code, reason := cause(p)
	itsCode, itsReason := cause(&t.partition)
	return t.Consumer == p.Consumer && t.Topic == p.Topic && t.Severity == p.Severity && t.State == p.State && code == itsCode && reason == itsReason
}

// dead are the open dead letters.
type dead struct {
	operate.Groups
	Count, Waiting, Recent, Asked, Interrupted int
}

// summary is the state in a few words, for the head of each page.
type summary struct {
	Worst     severity
	Text      string // "1 partition halted"
	Title     string // "HALTED 1"
	Consumers []string
}

// snapshot reads the state.
func (c *console) snapshot(ctx context.Context) (*snapshot, time.Time, error) {
	return kept(ctx, &c.recent, "snapshot", c.readSnapshot)
}

func (c *console) readSnapshot(ctx context.Context) (*snapshot, error) {
	s := &snapshot{}
	streams, err := operate.List(ctx, c.read, "")
	if err != nil {
		return nil, err
	}
	if s.Processes, err = operate.Processes(ctx, c.read, ""); err != nil {
		return nil, err
	}
	if s.Dead.Groups, err = operate.GroupsOf(ctx, c.read, operate.Selection{}); err != nil {
		return nil, err
	}
	if s.Calls, err = operate.CallsOf(ctx, c.read, ""); err != nil {
		return nil, err
	}
	if s.Outbox, err = operate.FindOutbox(ctx, c.read); err != nil {
		return nil, err
	}
	for _, g := range s.Dead.Groups.Groups {
		s.Dead.Count += g.Count
		s.Dead.Waiting += g.Waiting
		s.Dead.Recent += g.Recent
		s.Dead.Asked += g.Asked
		if g.Class == "interrupted" {
			s.Dead.Interrupted += g.Count
		}
	}
	c.samples.add(time.Now(), streams)
	s.topics(streams, &c.samples)
	s.Summary = s.summarize()
	return s, nil
}

// topics sorts the partitions by topic, and picks those that make no progress.
func (s *snapshot) topics(streams []operate.Status, samples *samples) {
	for _, status := range streams {
		if status.Former {
			continue
		}
		if n := len(s.Topics); n == 0 || s.Topics[n-1].Consumer != status.Consumer || s.Topics[n-1].Topic != status.Topic {
			s.Topics = append(s.Topics, topic{Consumer: status.Consumer, Topic: status.Topic, Worst: fine})
		}
		t := &s.Topics[len(s.Topics)-1]
		p := newPartition(status)
		t.add(&p)
		s.all = append(s.all, p)
		if p.Severity != fine {
			s.add(p)
		}
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		t.Rate, t.Rates, t.Lags = samples.of(t.Consumer, t.Topic)
	}
	slices.SortStableFunc(s.Trouble, func(a, b trouble) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
}

// add adds a partition that makes no progress to those with the same cause.
func (s *snapshot) add(p partition) {
	for i := range s.Trouble {
		if t := &s.Trouble[i]; t.of(&p) {
			t.Partitions = append(t.Partitions, p)
			return
		}
	}
	s.Trouble = append(s.Trouble, trouble{p, []partition{p}})
}

// Behind is the lag in words, which is not less than it is.
func (t *topic) Behind() string {
	switch {
	case t.Unknown == 0:
		return thousands(t.Lag)
	case t.Lag > 0:
		return "at least " + thousands(t.Lag)
	}
	return "not known"
}

func (t *topic) add(p *partition) {
	t.Partitions++
	if p.Severity == fine {
		t.Ready++
	}
	if p.Severity.rank() < t.Worst.rank() {
		t.Worst = p.Severity
	}
	r := p.Reported
	if r == nil || r.Silent || r.Lag < 0 {
		t.Unknown++
		return
	}
	t.Lag += r.Lag
	t.LagSeconds = max(t.LagSeconds, r.LagSeconds)
}

// newPartition says what is known of a partition. What no process reports is not known, and never
// fine.
func newPartition(status operate.Status) partition {
	p := partition{Status: status, State: "NOT KNOWN", Severity: unknown, Detail: "no process reports it"}
	r := status.Reported
	switch {
	case r == nil:
		return p
	case r.Silent:
		p.Detail = fmt.Sprintf("%s reported %s, and is silent", r.Process, r.State)
		return p
	}
	p.State, p.Severity, p.Detail = r.State, fine, ""
	switch {
	case r.State == "HALTED":
		p.Severity = urgent
	case r.Code != "" || r.State != "READY":
		p.Severity = passing
	}
	return p
}

// summarize says the state in a few words, the worst first.
func (s *snapshot) summarize() summary {
	out := summary{Worst: fine}
	for _, p := range s.Processes {
		if !p.Silent && len(p.Problems) > 0 {
			out.worse(passing)
		}
	}
	for _, t := range s.Topics {
		if !slices.Contains(out.Consumers, t.Consumer) {
			out.Consumers = append(out.Consumers, t.Consumer)
		}
	}
	n, paused := map[severity]int{}, 0
	for _, t := range s.Trouble {
		out.worse(t.Severity)
		if t.Reported.Paused() {
			paused += len(t.Partitions)
			continue
		}
		n[t.Severity] += len(t.Partitions)
	}
	var parts []string
	say := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, thousands(int64(n))+" "+many)
		}
	}
	say(n[urgent], "partition halted", "partitions halted")
	if s.Dead.Interrupted > 0 {
		out.worse(urgent)
		say(s.Dead.Interrupted, "call needs a decision", "calls need a decision")
	}
	if n := s.Dead.Count - s.Dead.Interrupted - s.Dead.Asked; n > 0 {
		out.worse(urgent)
		say(n, "dead letter", "dead letters")
	}
	if s.Dead.Asked > 0 {
		out.worse(passing)
		say(s.Dead.Asked, "request about a dead letter pending", "requests about dead letters pending")
	}
	say(n[unknown], "partition not known", "partitions not known")
	say(n[passing], "partition retries by itself", "partitions retry by themselves")
	say(paused, "partition paused", "partitions paused")
	if s.Calls.Failing > 0 {
		out.worse(passing)
		say(s.Calls.Failing, "call keeps failing", "calls keep failing")
	}
	if text := s.outbox(); text != "" {
		out.worse(urgent)
		parts = append(parts, text)
	}
	if len(s.Topics) == 0 && len(parts) == 0 {
		out.worse(unknown)
		parts = append(parts, "no consumer has read a record yet")
	}
	out.Text, out.Title = strings.Join(parts, ", "), "OK"
	if out.Text == "" {
		out.Text = "Everything makes progress"
	}
	switch out.Worst {
	case urgent:
		out.Title = "ACT"
		if n[urgent] > 0 {
			out.Title = fmt.Sprintf("HALTED %d", n[urgent])
		}
	case unknown:
		out.Title = "NOT KNOWN"
	case passing:
		out.Title = "RETRYING"
		if paused > 0 && n[passing] == 0 {
			out.Title = fmt.Sprintf("PAUSED %d", paused)
		}
	}
	return out
}

// outbox says why events stay in the outbox; "" if they do not.
func (s *snapshot) outbox() string {
	if s.Outbox == nil || !s.Outbox.Stuck() {
		return ""
	}
	for _, p := range s.Processes {
		if p.Relay == nil || p.Silent {
			continue
		}
		for _, problem := range p.Problems {
			switch problem.Code {
			case "refused":
				return "the broker rejects events of the outbox"
			case "broker", "unanswered":
				return "the relay of the outbox cannot reach the broker"
			}
		}
	}
	if s.Outbox.Leader == "" {
		return "no relay sends the outbox"
	}
	return "events wait in the outbox"
}

func (s *summary) worse(is severity) {
	if is.rank() < s.Worst.rank() {
		s.Worst = is
	}
}

// state returns the summary for the head of a page.
func (c *console) state(ctx context.Context) summary {
	s, _, err := c.snapshot(ctx)
	if err != nil {
		return summary{Worst: unknown, Title: "NOT KNOWN"}
	}
	return s.Summary
}

func (c *console) overview(q *request) {
	s, at, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "overview.html", shown{Title: s.Summary.Title, Tab: "overview", Now: at, Refresh: true, Command: "idemgen stream list", State: s.Summary, Data: s})
}
