package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Process is a running process of a service, as it reports itself in the database.
type Process struct {
	ID         string            `json:"id"` // random, of one run of a consumer
	Consumer   string            `json:"consumer"`
	Name       string            `json:"name"`    // host and process id
	Version    string            `json:"version"` // of the program; "" if it has none
	StartedAt  time.Time         `json:"started_at"`
	SeenAt     time.Time         `json:"seen_at"` // when it last wrote its row
	AgeSeconds float64           `json:"age_seconds"`
	Silent     bool              `json:"silent"` // it has missed 3 writes: what it reported last may no longer be so
	Problems   []ReportedProblem `json:"problems"`
	Partitions []Reported        `json:"partitions"`
	More       int               `json:"more"`            // number of partitions that are left out
	Group      string            `json:"group,omitempty"` // of Kafka; "" is the consumer's name
	Relay      *Relay            `json:"relay,omitempty"` // of a relay of the outbox, which has no consumer; else nil
}

// Relay is what a relay of the outbox reports.
type Relay struct {
	Leads bool  `json:"leads"` // of all relays, it is the one that sends
	Sent  int64 `json:"sent"`  // events that the broker acknowledged, since it started
}

// ReportedProblem is why a service as a whole makes no progress.
type ReportedProblem struct {
	Code   string    `json:"code"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
	Do     string    `json:"do"`
}

// Reported is what a process reports of a partition that is assigned to it. Code, Reason and Do
// are empty while the partition makes progress. Position, End and Lag are -1 while unknown.
type Reported struct {
	Process    string    `json:"process"` // its name
	Silent     bool      `json:"silent"`  // the process is: the rest is what it reported last
	AgeSeconds float64   `json:"age_seconds"`
	Topic      string    `json:"topic"`
	Partition  int32     `json:"partition"`
	State      string    `json:"state"`
	Since      time.Time `json:"since"` // when it entered the state, or the problem began
	Position   int64     `json:"position"`
	End        int64     `json:"end"`
	Lag        int64     `json:"lag"`
	LagSeconds float64   `json:"lag_seconds"`
	Applied    int64     `json:"applied"` // since it was assigned, like the next two
	Duplicates int64     `json:"duplicates"`
	Dead       int64     `json:"dead"`
	Code       string    `json:"code"`
	Reason     string    `json:"reason"`
	Do         string    `json:"do"`
	Ways       []string  `json:"ways,omitempty"` // commands that end a halt
}

// Stopped reports whether the partition makes no progress.
func (r *Reported) Stopped() bool { return r.Code != "" }

// owns reports whether the process has the partition, or is about to take it, and does not only
// wait for another one to release it.
func (r *Reported) owns() bool { return r.State != "STANDBY" }

// processesSQL selects the processes of a consumer, or of all consumers if it is empty. A process
// is silent by the database's clock.
const processesSQL = `SELECT process::text, consumer, name, version, started_at, seen_at,
	extract(epoch FROM statement_timestamp() - seen_at)::float8, statement_timestamp() - seen_at > 3 * every, report::text
FROM idem_process WHERE $1 IN ('', consumer) ORDER BY consumer, name, process`

// Processes returns the processes that report themselves, of a consumer, or of all consumers if it
// is "", ordered by consumer and name. A process deletes its row when it ends. One that was killed
// is silent, and its row is deleted after a day.
func Processes(ctx context.Context, db DB, consumer string) ([]Process, error) {
	if is, err := has(ctx, db, "idem_process"); err != nil || !is {
		return nil, err
	}
	return query(ctx, db, scanProcess, processesSQL, consumer)
}

func scanProcess(r pgx.CollectableRow) (Process, error) {
	var p Process
	var report string
	if err := r.Scan(&p.ID, &p.Consumer, &p.Name, &p.Version, &p.StartedAt, &p.SeenAt, &p.AgeSeconds, &p.Silent, &report); err != nil {
		return p, err
	}
	in := struct {
		Problems   []ReportedProblem
		Partitions []Reported
		More       int
		Group      string
		Relay      *Relay
	}{Problems: []ReportedProblem{}, Partitions: []Reported{}}
	if err := json.Unmarshal([]byte(report), &in); err != nil {
		return p, fmt.Errorf("the report of %s cannot be read: %w", p.Name, err)
	}
	p.Problems, p.Partitions, p.More, p.Group, p.Relay = in.Problems, in.Partitions, in.More, in.Group, in.Relay
	p.StartedAt, p.SeenAt, p.AgeSeconds = p.StartedAt.UTC(), p.SeenAt.UTC(), max(0, p.AgeSeconds)
	for i := range p.Partitions {
		r := &p.Partitions[i]
		r.Process, r.Silent, r.AgeSeconds = p.Name, p.Silent, p.AgeSeconds
	}
	return p, nil
}

// reports sets what processes report of streams, and returns what they report of other partitions.
// Former streams have no report: it is about the present topic. A partition makes no progress
// either if its service as a whole does not.
func reports(ctx context.Context, db DB, consumer string, streams []Status) (others map[Name]*Reported, err error) {
	processes, err := Processes(ctx, db, consumer)
	if err != nil {
		return nil, err
	}
	best := map[Name]*Reported{}
	for _, p := range processes {
		for i := range p.Partitions {
			r := &p.Partitions[i]
			if len(p.Problems) > 0 && !r.Stopped() {
				whole := p.Problems[0]
				r.Code, r.Since, r.Reason, r.Do = whole.Code, whole.Since, whole.Reason, whole.Do
			}
			at := Name{Consumer: p.Consumer, Topic: r.Topic, Partition: r.Partition}
			if was := best[at]; was == nil || prefer(r, was) < 0 {
				best[at] = r
			}
		}
	}
	for i := range streams {
		if s := &streams[i]; !s.Former {
			at := Name{Consumer: s.Consumer, Topic: s.Topic, Partition: s.Partition}
			s.Reported = best[at]
			delete(best, at)
		}
	}
	return best, nil
}

// reportOf returns what processes report of a stream.
func reportOf(ctx context.Context, db DB, s Status) (*Reported, error) {
	one := []Status{s}
	_, err := reports(ctx, db, s.Consumer, one)
	return one[0].Reported, err
}

// prefer orders reports of one partition by how much they are worth: those of processes that are
// not silent, of those the owner's, and of those the youngest.
func prefer(a, b *Reported) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(first(!a.Silent, !b.Silent), first(a.owns(), b.owns()), cmp.Compare(a.AgeSeconds, b.AgeSeconds))
}

// Unknown returns in words why the state of a partition is not known; "" if it is known.
func (r *Reported) Unknown() string {
	switch {
	case r == nil:
		return "not known: no process reports it"
	case r.Silent:
		return fmt.Sprintf("not known: %s has been silent for %s", r.Process, Age(r.AgeSeconds))
	}
	return ""
}

// Ownerless returns why a request for the owner of a partition may stay without an answer, and
// what to do; "" if its owner makes progress.
func Ownerless(r *Reported) string {
	switch {
	case r == nil:
		return "no process reports this partition: if the service does not run, start it"
	case r.Silent:
		return fmt.Sprintf("its state is %s: see whether the process still runs and reaches the database; if not, start it", r.Unknown())
	case r.Stopped():
		return fmt.Sprintf("it makes no progress at %s, %s: %s. First: %s", r.Process, r.Code, r.Reason, r.Do)
	}
	return ""
}
