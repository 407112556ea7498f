package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// processes looks at what the processes of the service report, at its dead letters and at its
// outbox. What is wrong with processes only once is not reported: while a group shares its
// partitions out, nobody reports some of them.
func (e *examination) processes(ctx context.Context) error {
	if e.lacks(ctx, "idem_ledger") || e.lacks(ctx, "idem_process") {
		return nil
	}
	s, err := e.state(ctx)
	if err == nil && slices.ContainsFunc(s.Problems, ofProcesses) {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		s, err = e.state(ctx)
	}
	if err != nil {
		return err
	}
	unread := map[string]bool{}
	for _, u := range s.Unread {
		unread[u.Part] = true
		if e.ledgers != nil && u.Part != "streams" || u.Part == "outbox" { // the others were looked at before
			e.failed(u.Part, u.Err)
		}
	}
	for i := range s.Problems {
		if p := &s.Problems[i]; p.Subject != operate.OfDatabase && (e.ledgers != nil || p.Subject == operate.OfOutbox || p.Subject == operate.OfRelay) {
			e.problem(p)
		}
	}
	lacks, err := e.relayRights(ctx)
	e.well(s, unread, lacks)
	return err
}

// ofProcesses reports whether a problem may pass while a group shares its partitions out.
func ofProcesses(p operate.Problem) bool {
	return p.Severity != operate.Notice && (p.Subject == operate.OfProcess || p.Subject == operate.OfPartitions)
}

// state is the state of the service, without topics that it does not read.
func (e *examination) state(ctx context.Context) (*operate.State, error) {
	s, err := operate.StateOf(ctx, e.Database, e.Consumer)
	if err != nil {
		return nil, err
	}
	foreign := func(t operate.Status) bool {
		return !slices.ContainsFunc(e.Topics, func(of Topic) bool { return of.Name == t.Topic })
	}
	var problems []operate.Problem
	for _, p := range s.Problems {
		had := len(p.Partitions)
		p.Partitions = slices.DeleteFunc(slices.Clone(p.Partitions), foreign)
		if had == 0 || len(p.Partitions) > 0 {
			problems = append(problems, p)
		}
	}
	s.Problems = problems
	return s, nil
}

// problem adds a check of a problem.
func (e *examination) problem(p *operate.Problem) {
	state := Failure
	if p.Severity == operate.Notice || p.State == "PAUSED" || p.Subject == operate.OfLetters || p.Code == "no-relay" || p.Code == "no-process" && len(p.Processes) == 0 {
		state = Warning
	}
	e.add(state, about(p), strings.Join(p.Advice(), "\n"), "%s", p.Text())
	if p.Subject != operate.OfPartitions || state == Warning {
		return
	}
	for _, t := range p.Partitions {
		e.stopped[place{t.Topic, t.Partition}] = p.Code
	}
}

// about names what a problem is about.
func about(p *operate.Problem) string {
	switch p.Subject {
	case operate.OfPartitions:
		if len(p.Partitions) == 1 {
			return "partition " + p.Where()
		}
		return "partitions " + p.Where()
	case operate.OfProcess, operate.OfRelay:
		if len(p.Processes) == 1 {
			return string(p.Subject) + " " + p.Processes[0]
		}
		return "processes " + strings.Join(p.Processes, "; ")
	case operate.OfService:
		return "processes"
	case operate.OfLetters:
		return "dead letters"
	default:
		return string(p.Subject)
	}
}

// well adds what is as it should be. lacks says that a relay would lack a right.
func (e *examination) well(s *operate.State, unread map[string]bool, lacks bool) {
	is := func(subject operate.Subject) bool {
		return slices.ContainsFunc(s.Problems, func(p operate.Problem) bool { return p.Subject == subject && p.Severity != operate.Notice })
	}
	live, works, left := 0, 0, 0
	for _, p := range s.Processes {
		if p.Silent || p.Relay != nil {
			continue
		}
		live++
		left += p.More
		e.Group = cmp.Or(e.Group, p.Group)
	}
	for _, t := range s.Streams {
		if severity, _, _ := t.Now(); severity.Works() && !t.Former {
			works++
		}
	}
	switch reports := reporting(live); {
	case e.ledgers == nil:
		e.add(Skipped, "processes", "nothing, once the ledgers can be read", "not examined, because no ledger was read")
	case unread["processes"], is(operate.OfService) || is(operate.OfProcess) || is(operate.OfPartitions):
	case live == 0:
		e.add(Warning, "processes", "start the service", "no process reports itself: the service does not run, and the states of its partitions are not known")
	case left > 0:
		e.add(Warning, "processes", "look at /readyz of each process", "%s; partitions that make progress: %d, left out of the reports: %d", reports, works, left)
	default:
		e.add(OK, "processes", "", "%s; partitions that make progress: %d", reports, works)
	}
	if !is(operate.OfLetters) && !unread["dead letters"] {
		e.add(OK, "dead letters", "", "none waits for a replay or a discard")
	}
	if s.Outbox == nil || unread["outbox"] || is(operate.OfOutbox) || is(operate.OfRelay) {
		return
	}
	switch o, unsent := s.Outbox, count(s.Outbox.Waiting, "event"); {
	case lacks && (o.Leader != "" || o.Waiting == 0):
	case o.Leader != "":
		e.add(OK, "outbox", "", "unsent: %s, and a relay leads: %s", unsent, o.Leader)
	case o.Waiting == 0:
		e.add(OK, "outbox", "", "all events are sent, and no relay leads")
	default:
		e.add(Warning, "outbox", "start a relay, or read the logs of the relays that run", "unsent: %s, the first one for %s, and no relay leads", unsent, o.Oldest)
	}
}

func reporting(n int) string {
	if n == 1 {
		return "1 process reports itself"
	}
	return fmt.Sprintf("%d processes report themselves", n)
}
