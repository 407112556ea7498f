package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// reports are what the processes of the service report of its partitions.
type reports struct {
	live, silent int     // processes
	partitions   int     // that make progress
	left         int     // partitions that processes left out
	wrong        []Check // of processes and partitions
	stopped      map[place]bool
	group        string // of Kafka; "" is the consumer's name
}

// processes looks at what the processes report. What is wrong only once is not reported: while a
// group shares its partitions out, nobody reports some of them.
func (e *examination) processes(ctx context.Context) error {
	if e.lacks(ctx, "idem_ledger") || e.lacks(ctx, "idem_process") {
		return nil
	}
	if e.ledgers == nil {
		e.add(Skipped, "processes", "nothing, once the ledgers can be read", "not examined, because no ledger was read")
		return nil
	}
	r, err := e.readReports(ctx)
	if err == nil && len(r.wrong) > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		r, err = e.readReports(ctx)
	}
	if err != nil {
		return err
	}
	e.stopped = r.stopped
	if e.Group == "" {
		e.Group = r.group
	}
	e.checks = append(e.checks, r.wrong...)
	switch {
	case r.live+r.silent == 0:
		e.add(Warning, "processes", "start the service", "no process reports itself: the service does not run, and the states of its partitions are not known")
	case len(r.wrong) > 0:
	case r.left > 0:
		e.add(Warning, "processes", "look at /readyz of each process", "%s; partitions that make progress: %d, left out of the reports: %d", reporting(r.live), r.partitions, r.left)
	default:
		e.add(OK, "processes", "", "%s; partitions that make progress: %d", reporting(r.live), r.partitions)
	}
	return nil
}

func reporting(n int) string {
	if n == 1 {
		return "1 process reports itself"
	}
	return fmt.Sprintf("%d processes report themselves", n)
}

// readReports reads what is reported now.
func (e *examination) readReports(ctx context.Context) (*reports, error) {
	processes, err := operate.Processes(ctx, e.Database, e.Consumer)
	if err != nil {
		return nil, err
	}
	streams, err := operate.List(ctx, e.Database, "")
	if err != nil {
		return nil, err
	}
	r := &reports{stopped: map[place]bool{}}
	for _, p := range processes {
		if p.Silent {
			r.silent++
			continue
		}
		r.live++
		r.group = cmp.Or(r.group, p.Group)
		r.left += p.More
		if len(p.Partitions) > 0 { // each of them has the problem of the whole
			continue
		}
		for _, problem := range p.Problems {
			r.wrong = append(r.wrong, Check{Failure, "process " + p.Name, fmt.Sprintf("%s since %s: %s", problem.Code, problem.Since.UTC().Format(time.RFC3339), problem.Reason), problem.Do})
		}
	}
	for _, s := range streams {
		reads := slices.ContainsFunc(e.Topics, func(t Topic) bool { return t.Name == s.Topic })
		if s.Consumer != e.Consumer || s.Former || !reads {
			continue
		}
		r.add(s)
	}
	return r, nil
}

// add adds what is reported of a partition.
func (r *reports) add(s operate.Status) {
	check := Check{State: Failure, About: fmt.Sprintf("partition %s/%d", s.Topic, s.Partition)}
	if paused, end := s.Pause(); paused != "" { // whether a process has it or not
		r.wrong = append(r.wrong, Check{Warning, check.About, paused, end})
	}
	switch on := s.Reported; {
	case on.Paused(): // the ledger has said so
		return
	case on == nil && (r.live+r.silent == 0 || r.left > 0):
		return
	case on == nil:
		check.Found, check.Advice = on.Unknown(), "look at the members of the group, and at their logs: the group may have assigned the partition to a process that does not report itself"
	case on.Silent:
		check.Found, check.Advice = on.Unknown(), "see whether the process still runs and reaches the database; if it does not, start it"
	case on.Stopped():
		check.Found = fmt.Sprintf("%s at %s, %s since %s: %s", on.State, on.Process, on.Code, on.Since.UTC().Format(time.RFC3339), on.Reason)
		check.Advice = on.Do
	default:
		r.partitions++
		return
	}
	r.stopped[place{s.Topic, s.Partition}] = true
	r.wrong = append(r.wrong, check)
}
