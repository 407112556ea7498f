package operate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/process"
)

// letters are the open dead letters, and the requests about them.
func (s *State) letters() (all []Problem) {
	var dead, interrupted, asked, former Problem
	var deads, calls, requests, parked, formers int
	var most *Group
	for i, g := range s.Letters.Groups {
		free := g.Count - g.Asked
		if requests += g.Asked; g.Asked > 0 {
			asked.since(g.askedAt)
		}
		if g.Former {
			formers += free
			former.since(g.First)
			continue
		}
		parked += g.Waiting
		if g.Class == interruptedClass {
			calls += free
			interrupted.since(g.First)
			continue
		}
		if deads += free; free > 0 {
			dead.since(g.First)
			if most == nil { // the largest come first
				most = &s.Letters.Groups[i]
			}
		}
	}
	more := ""
	if s.Letters.Older != nil {
		more = "+"
	}
	number := func(n int, one, many string) string {
		if n == 1 && more == "" {
			return "1 " + one
		}
		return fmt.Sprintf("%d%s %s", n, more, many)
	}
	costs := "the record has no effect until it is replayed"
	if parked > 0 {
		costs += fmt.Sprintf("; held back behind these: %s of the same record keys", count(parked, "record"))
	}
	const closed = "none of them is open"
	if calls > 0 {
		interrupted.fill(Urgent, "interrupted", "DECIDE", number(calls, "call needs a decision", "calls need a decision"),
			"a call of an effect may have been made, and its outcome is unknown", costs, closed)
		interrupted.Check = "ask the provider about the key of each"
		interrupted.Ways = []Exit{{Command: "idemgen dead list --class interrupted", Costs: "lists them: replay each with its result, which makes no call, or without one, which repeats the call"}}
		all = append(all, interrupted)
	}
	if deads > 0 {
		dead.fill(Urgent, "dead-letters", "DEAD", number(deads, "dead letter", "dead letters"), most.said(deads), costs, closed)
		dead.Check = "the reason of each group; remove its cause first"
		dead.Ways = []Exit{{Command: "idemgen dead list", Costs: "lists them: replay a group once its cause is removed, or discard it"}}
		all = append(all, dead)
	}
	if formers > 0 {
		former.fill(Notice, "former-letters", "FORMER", number(formers, "dead letter of a former topic", "dead letters of a former topic"),
			"the topic was recreated while they were open", "they, and what is parked behind them, can only be discarded", closed)
		former.Do = "let the producer send again what is still needed, then discard them"
		former.Ways = []Exit{{Command: "idemgen dead list --former", Costs: "lists them"}}
		all = append(all, former)
	}
	if requests > 0 {
		severity := Notice
		if s.At.Sub(asked.Since) > standstill {
			severity = Passing
		}
		asked.fill(severity, "requests", "ASKED", number(requests, "request about a dead letter pending", "requests about dead letters pending"),
			"the owners of the partitions have not answered yet", "nothing", "each has an outcome, within seconds while the partition is READY")
		asked.Do = "wait; if it lasts, fix what else is wrong with these partitions: the owner answers when they make progress"
		all = append(all, asked)
	}
	return all
}

// said is the cause of dead letters: what most of them have in common.
func (g *Group) said(all int) string {
	cause := "records were passed without effect: "
	if g.Count-g.Asked < all {
		cause += fmt.Sprintf("%d of them, ", g.Count-g.Asked)
	}
	cause += g.Text()
	if g.Version != "" {
		cause += ", first with version " + g.Version
	}
	return cause
}

// interruptedClass is the class of letters of calls that may have been made.
const interruptedClass = "interrupted"

func (p *Problem) since(at time.Time) {
	if p.Since.IsZero() || at.Before(p.Since) {
		p.Since = at
	}
}

func (p *Problem) fill(severity Severity, code, state, title, cause, costs, mended string) {
	p.Severity, p.Subject, p.Code, p.State, p.Title, p.Cause, p.Costs, p.Mended = severity, OfLetters, code, state, title, cause, costs, mended
}

// calls are the calls of effects that fail and are repeated.
func (s *State) calls() []Problem {
	n := s.Calls.Failing
	if n == 0 {
		return nil
	}
	p := Problem{
		Severity: Passing, Subject: OfEffects, Code: "calls-failing", State: "FAILING", Cause: "the last call of each failed", Costs: "the rows of their events, and of later ones of their partitions, wait",
		Do: "wait: they are called again; if it lasts, see whether the provider works", Mended: "each call has succeeded, or its event is a dead letter",
	}
	switch {
	case n == 1:
		p.Title = "1 call keeps failing"
	case n > 1000:
		p.Title = "1000+ calls keep failing"
	default:
		p.Title = fmt.Sprintf("%d calls keep failing", n)
	}
	for _, c := range s.Calls.Oldest {
		if c.State == callStates['f'] {
			p.since(c.ChangedAt)
		}
	}
	return []Problem{p}
}

// events are those that wait in the outbox although no relay says why.
func (s *State) events() []Problem {
	said := slices.ContainsFunc(s.Processes, func(p Process) bool {
		return p.Relay != nil && !p.Silent && slices.ContainsFunc(p.Problems, func(is process.Problem) bool { return is.Code != "leader" })
	})
	if s.Outbox == nil || !s.Outbox.Stuck() || said {
		return nil
	}
	p := Problem{
		Severity: Urgent, Subject: OfOutbox, Code: "outbox-held", State: "HELD", Title: "events wait in the outbox", Since: s.At.Add(-s.Outbox.Oldest), Costs: eventsStay, Mended: allSent,
		Cause: fmt.Sprintf("the first event has waited for %v, although a relay leads: %s", s.Outbox.Oldest, s.Outbox.Leader),
		Do:    "read the log of that relay; if it hangs, end its session: another relay takes over",
	}
	if s.Outbox.Leader == "" {
		p.Code, p.Title = "no-relay", "no relay sends the outbox"
		p.Cause = fmt.Sprintf("the first event has waited for %v, and no relay leads", s.Outbox.Oldest)
		p.Do = "start a relay, or read the logs of the relays that run"
	}
	return []Problem{p}
}

const (
	// remembered is for how long a restore is noticed.
	remembered = 7 * 24 * time.Hour
	// lately is for how long a process that fell silent is noticed.
	lately = time.Hour
)

// notices are what could not be read, and what holds up nothing and should be read.
func (s *State) notices(gone []Problem) (all []Problem) {
	all = append(all, s.restores()...)
	for _, u := range s.Unread {
		p := Problem{
			Severity: NotKnown, Part: u.Part, Subject: OfDatabase, Code: "unread", State: "NOT READ", Title: u.Part + " not known", Cause: u.Table + " cannot be read: " + u.Err.Error(),
			Costs: "problems there are not known", Mended: "it can be read again", Do: "fix what the error names",
		}
		if u.denied() {
			p.Code, p.Do, p.Cause = "no-right", "", "role "+s.Role+" has no right to read "+u.denies()
			p.Ways = []Exit{{Command: fmt.Sprintf("GRANT SELECT ON %s TO %s; -- as the owner of the table", u.denies(), pgx.Identifier{s.Role}.Sanitize()), Costs: "the role may read the table"}}
		} else if u.blocked() && len(s.Locks) > 0 {
			p.Severity = Urgent
			s.held(&p)
		}
		all = append(all, p)
	}
	p := Problem{
		Severity: Notice, Subject: OfProcess, Code: "fell-silent", State: "SILENT", Costs: "nothing, once others own its partitions", Mended: "none has fallen silent for an hour",
		Cause: "a process that ends in order says so: one that falls silent was killed, hangs, or lost its machine or its connection to the database", Do: "if it happens repeatedly, look for out-of-memory kills by the kernel, and for crashes in their logs",
	}
	silent := slices.Clone(s.Processes)
	slices.SortStableFunc(silent, func(a, b Process) int { return b.SeenAt.Compare(a.SeenAt) })
	var last []string
	for _, is := range silent {
		left := slices.ContainsFunc(gone, func(g Problem) bool {
			return g.Consumer == is.Consumer || is.Consumer == "" && slices.Contains(g.Processes, is.Name)
		})
		if !is.Silent || is.AgeSeconds >= lately.Seconds() || left || slices.Contains(p.Processes, is.Name) { // a relay is a part of one, with a report of its own
			continue
		}
		p.Processes = append(p.Processes, is.Name)
		if len(last) < 5 {
			last = append(last, is.Name+" since "+is.SeenAt.UTC().Format(time.RFC3339))
		}
	}
	if n := len(p.Processes); n > 0 {
		p.Title = count(n, "process") + " fell silent within the last hour"
		p.Cause = strings.Join(last, "; ") + "; " + p.Cause
		all = append(all, p)
	}
	return all
}

// restores are the partitions whose database lost commits that were applied again since.
func (s *State) restores() (all []Problem) {
	of := s.byConsumer()
	for _, consumer := range slices.Sorted(maps.Keys(of)) {
		p := Problem{
			Severity: Notice, Subject: OfPartitions, Code: lostCommits, State: "WENT BACK", Consumer: consumer, Costs: "nothing is held up: the records were applied again",
			Do: "if nobody restored the database, find out why it lost commits; look at dead letters of class interrupted", Mended: "a week has passed",
		}
		for _, t := range of[consumer] {
			reported := t.Reported.Unknown() == "" && t.Reported.Code == lostCommits
			if t.Lost == nil || s.At.Sub(t.Lost.FoundAt) > remembered || reported { // which is a problem of the partition
				continue
			}
			p.Partitions = append(p.Partitions, t)
			p.since(t.Lost.FoundAt)
		}
		if n := len(p.Partitions); n > 0 {
			first := p.Partitions[0].Lost
			p.Title = "the database lost commits of " + count(n, "partition")
			p.Cause = fmt.Sprintf("the database had lost commits, as after a restore or a failover: records from offset %d to %d were applied again", first.From, first.To-1)
			if first.From == first.To {
				p.Cause = "the database had lost rows of the ledger, but no records, as after a restore or a failover: later actions of operators are undone"
			}
			all = append(all, p)
		}
	}
	return all
}
