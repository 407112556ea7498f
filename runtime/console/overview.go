package console

import (
	"context"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// snapshot is the state of all services in the database, read at one time.
type snapshot struct {
	*operate.State
	Topics  []topic
	Dead    dead
	Summary summary
	all     []partition
}

// topic is a topic as one consumer reads it.
type topic struct {
	Consumer, Topic string
	Partitions      int
	Ready           int
	Worst           operate.Severity
	Lag             int64   // of the partitions with a known lag
	Unknown         int     // partitions whose lag is not known
	LagSeconds      float64 // of the partition that is furthest behind
	Rate            float64 // offsets a second
	Rates, Lags     spark
	broke           time.Time // when the oldest problem of a partition began
}

// partition is a partition of a topic.
type partition struct {
	operate.Status
	Severity operate.Severity
	State    string // as reported, or NOT KNOWN
	Detail   string // of NOT KNOWN: why
}

// dead are the open dead letters.
type dead struct {
	operate.Groups
	Count, Waiting, Recent, Asked, Interrupted int
}

// summary is the state in a few words, for the head of each page.
type summary struct {
	Worst     operate.Severity
	Parts     []part // the worst first
	Title     string // "HALTED 1"
	Consumers []string
	Dead      int  // open letters, for the navigation
	Calls     bool // there may be calls of effects to look at
	Outbox    *operate.Outbox
	Versions  string // of the processes that run; "" if they have none
}

// part is a problem in a few words, with the page that says more.
type part struct {
	Severity operate.Severity
	Text     string
	Page     template.URL
}

// snapshot reads the state.
func (c *console) snapshot(ctx context.Context) (*snapshot, time.Time, error) {
	return kept(ctx, &c.recent, "snapshot", c.readSnapshot)
}

func (c *console) readSnapshot(ctx context.Context) (*snapshot, error) {
	state, err := operate.StateOf(ctx, c.read, "")
	if err == nil {
		err = state.Err()
	}
	if err != nil {
		return nil, err
	}
	s := &snapshot{State: state, Dead: dead{Groups: state.Letters}}
	for _, g := range s.Letters.Groups {
		s.Dead.Count += g.Count
		s.Dead.Waiting += g.Waiting
		s.Dead.Recent += g.Recent
		s.Dead.Asked += g.Asked
		if g.Class == "interrupted" {
			s.Dead.Interrupted += g.Count
		}
	}
	c.samples.add(time.Now(), s.Streams)
	s.topics(&c.samples)
	s.Summary = s.summarize()
	if names := s.Summary.Consumers; len(names) > 0 {
		c.names.Store(names)
	} else {
		s.Summary.Consumers = c.unknown().Consumers
	}
	return s, nil
}

// topics sorts the partitions by topic.
func (s *snapshot) topics(samples *samples) {
	for _, status := range s.Streams {
		if status.Former {
			continue
		}
		if n := len(s.Topics); n == 0 || s.Topics[n-1].Consumer != status.Consumer || s.Topics[n-1].Topic != status.Topic {
			s.Topics = append(s.Topics, topic{Consumer: status.Consumer, Topic: status.Topic, Worst: operate.Fine})
		}
		p := partition{Status: status}
		p.Severity, p.State, p.Detail = status.Now()
		s.Topics[len(s.Topics)-1].add(&p)
		s.all = append(s.all, p)
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		t.Rate, t.Rates, t.Lags = samples.of(t.Consumer, t.Topic)
		if !t.broke.IsZero() {
			t.Rates.broke, t.Lags.broke = s.At.Sub(t.broke), s.At.Sub(t.broke)
		}
	}
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
	if p.Severity.Works() {
		t.Ready++
	} else if r := p.Reported; r != nil && !r.Since.IsZero() && (t.broke.IsZero() || r.Since.Before(t.broke)) {
		t.broke = r.Since
	}
	if p.Severity.Rank() < t.Worst.Rank() {
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

// isSending reports whether a problem is about the outbox.
func isSending(p operate.Problem) bool {
	return p.Subject == operate.OfRelay || p.Subject == operate.OfOutbox
}

// isLetter reports whether a problem is about dead letters.
func isLetter(p operate.Problem) bool { return p.Subject == operate.OfLetters }

// worst is how bad the worst of some problems is.
func (s *snapshot) worst(of func(operate.Problem) bool) operate.Severity {
	if i := slices.IndexFunc(s.Problems, of); i >= 0 {
		return s.Problems[i].Severity
	}
	return operate.Fine
}

// unread reports whether a part of the state could not be read.
func (s *snapshot) unread(part string) bool {
	return slices.ContainsFunc(s.Unread, func(u operate.Unread) bool { return u.Part == part })
}

// notRead returns the problem that a part of the state could not be read; nil if it could.
func (s *snapshot) notRead(part string) *operate.Problem {
	if !s.unread(part) {
		return nil
	}
	i := slices.IndexFunc(s.Problems, func(p operate.Problem) bool { return p.Part == part })
	if i < 0 { // a lock holds up other parts, too
		i = slices.IndexFunc(s.Problems, func(p operate.Problem) bool { return p.Code == "locked" })
	}
	if i < 0 {
		return nil
	}
	return &s.Problems[i]
}

// summarize says the state in a few words, the worst first.
func (s *snapshot) summarize() summary {
	out := summary{Worst: operate.Fine, Title: "OK", Dead: s.Dead.Count, Outbox: s.Outbox, Calls: s.Calls.Here || s.Dead.Interrupted > 0}
	for _, t := range s.Topics {
		if !slices.Contains(out.Consumers, t.Consumer) {
			out.Consumers = append(out.Consumers, t.Consumer)
		}
	}
	var versions []string
	for _, p := range s.Processes {
		if !p.Silent && p.Relay == nil && p.Version != "" {
			versions = appendNew(versions, p.Version)
		}
	}
	out.Versions = strings.Join(versions, ", ")
	for i := range s.Problems {
		of := part{s.Problems[i].Severity, s.Problems[i].Title, pageOf(&s.Problems[i])}
		if !slices.Contains(out.Parts, of) { // two causes may have one title
			out.Parts = append(out.Parts, of)
		}
	}
	switch {
	case len(s.Problems) > 0:
		out.Worst = s.Problems[0].Severity
	case len(s.Topics) == 0:
		out.Worst, out.Parts = operate.NotKnown, []part{{operate.NotKnown, "no consumer has read a record yet", ""}}
	}
	halted, paused, retrying := 0, 0, false
	for i := range s.Problems {
		switch p := &s.Problems[i]; {
		case p.State == "HALTED":
			halted += len(p.Partitions)
		case p.State == "PAUSED":
			paused += len(p.Partitions)
		case p.Severity == operate.Passing:
			retrying = true
		}
	}
	switch out.Worst {
	case operate.Urgent:
		if out.Title = "ACT"; halted > 0 {
			out.Title = fmt.Sprintf("HALTED %d", halted)
		}
	case operate.NotKnown:
		out.Title = "NOT KNOWN"
	case operate.Passing:
		if out.Title = "RETRYING"; paused > 0 && !retrying {
			out.Title = fmt.Sprintf("PAUSED %d", paused)
		}
	}
	return out
}

// pageOf is the page that says more about a problem.
func pageOf(p *operate.Problem) template.URL {
	switch p.Subject {
	case operate.OfPartitions:
		if p.Code == "not-reported" && len(p.Partitions) > 1 {
			return "#problems"
		}
		first := p.Partitions[0]
		return "partition?" + query("consumer", first.Consumer, "topic", first.Topic, "partition", first.Partition)
	case operate.OfLetters:
		if p.Code == "interrupted" {
			return "dead?class=interrupted&list=1"
		}
		return "dead"
	case operate.OfEffects:
		return "effects"
	case operate.OfRelay, operate.OfOutbox:
		return "outbox"
	default:
		return "#processes"
	}
}

// card is a problem as the overview shows it.
type card struct {
	*operate.Problem
	Page template.URL
}

// mostNamed is how many partitions a card names.
const mostNamed = 12

// Shown are the partitions that a card names.
func (c card) Shown() []operate.Status { return c.Partitions[:min(len(c.Partitions), mostNamed)] }

// More is how many are not named.
func (c card) More() int { return max(0, len(c.Partitions)-mostNamed) }

// Acts reports whether the console itself can act on the problem.
func (c card) Acts() bool {
	return c.Subject == operate.OfLetters || slices.ContainsFunc(c.Ways, func(e operate.Exit) bool { return e.Way != nil })
}

// Verb is what the button of a card says.
func (c card) Verb() string {
	if c.Subject == operate.OfLetters {
		return "Look at them"
	}
	i := slices.IndexFunc(c.Ways, func(e operate.Exit) bool { return e.Way != nil })
	switch way := c.Ways[i].Way; {
	case way.Move != nil:
		return fmt.Sprintf("Read from offset %d", way.Move.To)
	case way.Code == halt.Paused:
		return "Resume"
	default:
		return "Release"
	}
}

// Pasted are the ways to paste. Letters have a page for theirs.
func (c card) Pasted() []operate.Exit {
	if c.Subject == operate.OfLetters {
		return nil
	}
	return c.Problem.Pasted()
}

// Cards are the problems.
func (s *snapshot) Cards() (all []card) {
	for i := range s.Problems {
		all = append(all, card{&s.Problems[i], pageOf(&s.Problems[i])})
	}
	return all
}

// state returns the summary for the head of a page.
func (c *console) state(ctx context.Context) summary {
	s, _, err := c.snapshot(ctx)
	if err != nil {
		return c.unknown()
	}
	return s.Summary
}

// unknown is the summary while nothing can be read, with the names that were known last.
func (c *console) unknown() summary {
	names, _ := c.names.Load().([]string)
	return summary{Worst: operate.NotKnown, Title: "NOT KNOWN", Consumers: names}
}

func (c *console) overview(q *request) {
	s, at, err := c.snapshot(q.r.Context())
	if err != nil {
		c.failed(q, err)
		return
	}
	c.render(q, "overview.html", shown{Title: s.Summary.Title, Tab: "overview", Now: at, Refresh: true, Command: "idemgen stream list", State: s.Summary, Data: s})
}
