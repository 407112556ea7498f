package operate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
)

// retired is how long a consumer may have no process until it is taken for one that is no more.
const retired = 30 * 24 * time.Hour

// gone are consumers without a live process.
func (s *State) gone() (all []Problem) {
	for consumer, streams := range s.byConsumer() {
		live, last := false, Process{}
		for _, p := range s.Processes {
			if p.Consumer != consumer {
				continue
			}
			live = live || !p.Silent
			if p.SeenAt.After(last.SeenAt) {
				last = p
			}
		}
		if live {
			continue
		}
		written, worked := time.Time{}, time.Time{}
		for _, t := range streams {
			if t.Tail != nil && t.Tail.WrittenAt.After(written) {
				written = t.Tail.WrittenAt
			}
			if at := t.worked(); at.After(worked) {
				worked = at
			}
		}
		p := Problem{
			Severity: Urgent, Subject: OfService, Code: "no-process", State: "STOPPED", Consumer: consumer, Title: "no process of " + consumer + " is left", Partitions: streams,
			Cause: "no process of " + consumer + " reports itself: none runs, or none reaches this database",
			Do:    "start the service; if a process runs, its log shows why it cannot reach the database", Costs: recordsWait, Mended: allReady,
		}
		switch {
		case last.Name != "" && !worked.After(last.until()):
			p.Since, p.Processes = last.SeenAt, []string{last.Name}
			p.Cause += fmt.Sprintf("; the last one to report, %s, did not end in order: it was killed, it hangs, or its machine is gone", last.Name)
		case s.At.Sub(worked) < kept: // else the report of one that was killed may be deleted
			p.Cause += "; the last one ended in order"
		}
		if s.At.Sub(written) > retired {
			p.Severity, p.Title = Notice, "no process of "+consumer+" has run for a month"
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Problem) int { return strings.Compare(a.Consumer, b.Consumer) })
	return all
}

// byConsumer returns the present streams of each consumer.
func (s *State) byConsumer() map[string][]Status {
	all := map[string][]Status{}
	for _, t := range s.Streams {
		if !t.Former {
			all[t.Consumer] = append(all[t.Consumer], t)
		}
	}
	return all
}

// What problems cost while they last, and how it looks when they are mended.
const (
	recordsWait = "records of these partitions wait in Kafka: none is lost while the topic keeps them"
	allReady    = "the partitions are READY, within about 5 seconds"
	eventsStay  = "events stay in idem_outbox in their order: none is lost"
	allSent     = "the events are sent, and the outbox is empty"
)

// wholes are the problems that processes and relays report of themselves, the same one of several
// of them once.
func (s *State) wholes() (all []Problem) {
	leads := slices.ContainsFunc(s.Processes, func(p Process) bool { return !p.Silent && p.Relay != nil && p.Relay.Leads })
	for _, p := range s.Processes {
		for _, is := range p.Problems {
			if p.Silent || p.Relay != nil && is.Code == "leader" && leads { // which reports what is wrong itself
				continue
			}
			of := s.whole(p, is)
			i := slices.IndexFunc(all, func(a Problem) bool {
				return a.Subject == of.Subject && a.Code == of.Code && a.Consumer == of.Consumer && Common(a.Cause) == Common(of.Cause)
			})
			if i < 0 {
				all = append(all, of)
				continue
			}
			all[i].Processes = append(all[i].Processes, p.Name)
			if of.Since.Before(all[i].Since) {
				all[i].Since = of.Since
			}
		}
	}
	for i := range all {
		if p := &all[i]; p.Subject == OfProcess {
			cause, _, _ := strings.Cut(p.Cause, ": ")
			p.Title = p.Consumer + ": " + cause
			if len(p.Processes) > 1 {
				p.Title += fmt.Sprintf(", in %d processes", len(p.Processes))
			}
		}
	}
	return all
}

// whole is a problem of a process or a relay.
func (s *State) whole(p Process, is process.Problem) Problem {
	of := Problem{
		Severity: Passing, Subject: OfProcess, Code: is.Code, State: "RETRYING", Consumer: p.Consumer, Processes: []string{p.Name}, Since: is.Since,
		Cause: is.Reason, Do: is.Do, Costs: recordsWait, Mended: allReady,
	}
	if is.Code == Unreadable {
		of.Severity, of.State, of.Costs, of.Mended = NotKnown, "NOT KNOWN", "the states of its partitions are not known", "the process is shown with its partitions"
	}
	if is.Code == process.TopicMissing {
		of.Costs = "records of a deleted topic that were not applied are lost; if it is recreated, its partitions halt until you set where to read it (topic-recreated)"
	}
	if p.Relay == nil {
		s.held(&of)
		return of
	}
	of.Subject, of.Costs, of.Mended = OfRelay, eventsStay, allSent
	s.held(&of)
	of.grants()
	switch is.Code {
	case process.Refused, process.TopicMissing, process.TooLarge:
		of.Severity, of.State, of.Title = Urgent, "REFUSED", "the broker rejects events of the outbox"
		of.reject(is.Code, is.Event)
	case "broker", "unanswered":
		of.Title = "the relay of the outbox cannot reach the broker"
	case "database":
		of.Title = "the relay of the outbox cannot use the database"
	default:
		of.Title = "the relay of the outbox does not keep up"
	}
	return of
}

// reject names the topic of the event that the broker rejects, and how to give the event up. If
// the topic is missing, giving up one event helps little. A process may report any text, so only
// the names of topics and ids are passed on.
func (p *Problem) reject(code string, e *process.Event) {
	if e == nil {
		return
	}
	if plain.MatchString(e.Topic) {
		switch code {
		case process.TopicMissing:
			p.Title = "topic " + e.Topic + " of the outbox is missing"
		case process.TooLarge:
			p.Title = "an event of the outbox is too large for topic " + e.Topic
		}
	}
	id, err := wire.ParseUUID(e.ID)
	if err != nil || code == process.TopicMissing {
		return
	}
	costs := "the event is given up: no consumer receives it, and the later events of its aggregate follow within a minute"
	if e.Letter {
		costs = "the dead letter is not sent to its topic: it stays in the database, and the later ones of its key follow within a minute"
	}
	p.Ways = append(p.Ways, Exit{Command: fmt.Sprintf("DELETE FROM idem_outbox WHERE id = '%s'; -- as the service's role", id), Costs: costs, Other: true})
}

// Now returns what is known of a partition at present: how bad it is, and its state in a word. Why
// is not empty if no process reports it.
func (s *Status) Now() (severity Severity, state, why string) {
	switch r := s.Reported; {
	case r.Unknown() != "":
		return NotKnown, "NOT KNOWN", strings.TrimPrefix(r.Unknown(), "not known: ")
	case r.State == "HALTED":
		return Urgent, r.State, ""
	case r.Whole && r.State == "READY": // its process as a whole does not work
		return Passing, "RETRYING", ""
	case r.Stopped() || r.State != "READY":
		return Passing, r.State, ""
	case r.Code != "":
		return Notice, r.State, ""
	default:
		return Fine, r.State, ""
	}
}

// Works reports whether a partition that has one of these severities makes progress.
func (s Severity) Works() bool { return s == Fine || s == Notice }

// partitions are the partitions that make no progress, by their causes. What the whole of a
// process has, or no process of the consumer reports, is a problem of those.
func (s *State) partitions(gone []Problem) (all []Problem) {
	lacking := map[string]bool{} // consumers whose unreported partitions have a known cause
	for _, p := range gone {
		lacking[p.Consumer] = true
	}
	for _, p := range s.Processes {
		if !p.Silent && p.Relay == nil && (len(p.Problems) > 0 || p.More > 0) {
			lacking[p.Consumer] = true
		}
	}
	first := map[string]int{} // of each cause
	add := func(of Problem) {
		cause := strings.Join([]string{of.Consumer, of.State, of.Code, place.ReplaceAllString(Common(of.Cause), "")}, "\n")
		i, known := first[cause]
		if !known {
			first[cause] = len(all)
			all = append(all, of)
			return
		}
		p := &all[i]
		if len(p.Partitions) == 1 && p.Cause != of.Cause { // which names an event of one partition
			p.Cause = p.Where() + ": " + p.Cause
		}
		p.Partitions, p.Ways = append(p.Partitions, of.Partitions...), append(p.Ways, of.Ways...)
		if of.Since.Before(p.Since) {
			p.Since = of.Since
		}
	}
	for _, t := range s.Streams {
		severity, state, why := t.Now()
		if paused, _ := t.Pause(); paused != "" && !t.Former {
			add(s.paused(t, paused))
			if severity != NotKnown {
				continue
			}
		}
		if t.Former || severity == Fine || severity == NotKnown && lacking[t.Consumer] || severity != NotKnown && t.Reported.Whole {
			continue
		}
		add(s.partition(t, severity, state, why))
	}
	for i := range all {
		p := &all[i]
		p.Title = count(len(p.Partitions), "partition") + " " + inWords(p)
		p.Ways = append(p.exits(), p.Ways...)
		p.grants()
		for n := 0; n < len(p.Ways); n++ { // one may be about several partitions
			if slices.ContainsFunc(p.Ways[:n], func(e Exit) bool { return e.Command == p.Ways[n].Command }) {
				p.Ways = slices.Delete(p.Ways, n, n+1)
				n--
			}
		}
	}
	return all
}

// place is what a reason begins with that is about one record, as Common writes it.
var place = regexp.MustCompile(`^event \S+, offset #: `)

// paused is the problem of a partition that an operator paused, whether a process has it or not.
func (s *State) paused(t Status, words string) Problem {
	way := halt.Way{Code: halt.Paused, Consumer: t.Consumer, Topic: t.Topic, Partition: t.Partition}
	a := advice[halt.Paused]
	return Problem{
		Severity: Passing, Subject: OfPartitions, Code: string(halt.Paused), State: halt.Paused.State(), Consumer: t.Consumer, Partitions: []Status{t}, Since: t.Tail.WrittenAt,
		Cause: words, Happened: a.happened, Check: a.check, Costs: recordsWait, Ways: []Exit{{way.String(), way.Costs(), false, &way}}, Mended: allReady,
	}
}

// partition is the problem of one partition.
func (s *State) partition(t Status, severity Severity, state, why string) Problem {
	p := Problem{Severity: severity, Subject: OfPartitions, State: state, Consumer: t.Consumer, Partitions: []Status{t}, Costs: recordsWait, Mended: allReady}
	if severity == NotKnown {
		p.Code, p.Cause = "not-reported", why
		p.Do = "wait: a rebalance takes a moment; if it lasts, look at the members of the group: one that does not report itself may have the partition"
		if t.Reported != nil {
			p.Do = "see whether the process still runs and reaches the database; if not, start it"
		}
		return p
	}
	r := t.Reported
	a := advice[halt.Code(r.Code)]
	p.Code, p.Since, p.Cause, p.Happened, p.Check = r.Code, r.Since, r.Reason, a.happened, a.check
	if len(r.Ways) == 0 {
		p.Do = r.Do
	}
	s.held(&p)
	if r.Code == string(halt.TopicRecreated) {
		p.Costs = "records of the current topic wait in Kafka; what was not read from the former one is lost"
	}
	if r.Code == lostCommits {
		p.Severity, p.State, p.Costs, p.Mended = Notice, "WENT BACK", "nothing is held up: the records are applied again", "the partitions have passed the second offset"
	}
	return p
}

// lostCommits is the code of a partition whose database lost commits, until they are applied
// again.
const lostCommits = "lost-commits"

// exits are the ways out of a halt of all partitions of a problem: first the first one of each.
func (p *Problem) exits() (all []Exit) {
	for i := 0; ; i++ {
		more := false
		for _, t := range p.Partitions {
			if t.Reported.Unknown() != "" || i >= len(t.Reported.Ways) {
				continue
			}
			more = true
			way := t.Reported.Ways[i]
			if p.Code == string(halt.Database) && way.Move != nil && grant.MatchString(p.Cause) { // it is not the record's fault
				continue
			}
			all = append(all, Exit{way.String(), way.Costs(), i > 0, &way})
		}
		if !more {
			return all
		}
	}
}

// inWords is what a title says of partitions.
func inWords(p *Problem) string {
	one := len(p.Partitions) == 1
	verb := func(singular, plural string) string {
		if one {
			return singular
		}
		return plural
	}
	switch {
	case p.Severity == Urgent:
		return "halted"
	case p.Severity == NotKnown:
		return "not known"
	case p.Severity == Notice:
		return verb("applies", "apply") + " records again"
	case p.Code == string(halt.Paused):
		return "paused"
	default:
		return verb("retries by itself", "retry by themselves")
	}
}
