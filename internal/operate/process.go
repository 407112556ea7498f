package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
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
	Problems   []process.Problem `json:"problems"`
	Partitions []Reported        `json:"partitions"`
	More       int               `json:"more"`            // number of partitions that are left out
	Group      string            `json:"group,omitempty"` // of Kafka; "" is the consumer's name
	Relay      *process.Relay    `json:"relay,omitempty"` // of a relay of the outbox, which has no consumer; else nil

	every time.Duration // the longest time between two reports
}

// until is until when a process may have worked that was killed. What was written later, another
// one wrote.
func (p *Process) until() time.Time { return p.SeenAt.Add(p.every) }

// kept is for how long the report of a process that was killed is kept.
const kept = 24 * time.Hour

// worked returns when a process wrote the ledger's last row; the zero time if an operator may have
// written it.
func (s *Status) worked() time.Time {
	if s.Tail == nil || !slices.Contains([]string{kinds[ledger.Batch], kinds[ledger.Fence], kinds[ledger.Letter]}, s.Tail.Kind) {
		return time.Time{}
	}
	return s.Tail.WrittenAt
}

// Reported is what a process reports of a partition that is assigned to it.
type Reported struct {
	Process    string  `json:"process"` // its name
	Silent     bool    `json:"silent"`  // the process is: the rest is what it reported last
	AgeSeconds float64 `json:"age_seconds"`
	Whole      bool    `json:"-"` // its problem is that of the process as a whole
	process.Assigned
}

// Stopped reports whether the partition makes no progress. One that applies records again, after
// its database lost commits, does.
func (r *Reported) Stopped() bool { return r.Code != "" && r.Code != lostCommits }

// owns reports whether the process has the partition, or is about to take it, and does not only
// wait for another one to release it.
func (r *Reported) owns() bool { return r.State != "STANDBY" }

// mostReport is how many bytes of a report are read. A process writes less than half of it.
const mostReport = 32 << 20

// processesSQL selects the processes of a consumer, or of all consumers if it is empty. Every
// value that a row may hold is selected without an error: times are numbers, because no other form
// has them all. A report that is too long is empty.
var processesSQL = fmt.Sprintf(`SELECT process::text, consumer, name, version, extract(epoch FROM started_at)::float8, extract(epoch FROM seen_at)::float8,
	extract(epoch FROM statement_timestamp())::float8, extract(epoch FROM every)::float8,
	CASE WHEN octet_length(report::text) <= %d THEN report::text ELSE '' END
FROM idem_process WHERE $1 = '' OR consumer IN ($1, '') ORDER BY consumer, name, process`, mostReport)

// Processes returns the processes that report themselves, of a consumer and relays of the outbox,
// or all if it is "", ordered by consumer and name. A process deletes its row when it ends. One
// that was killed is silent, and its row is deleted after a day. A process whose row cannot be
// read has the problem [Unreadable] and no partitions; the others are not affected.
func Processes(ctx context.Context, db DB, consumer string) ([]Process, error) {
	if is, err := has(ctx, db, "idem_process"); err != nil || !is {
		return nil, err
	}
	return query(ctx, db, scanProcess, processesSQL, consumer)
}

// Unreadable is the code of the problem that a row of a process cannot be read.
const Unreadable = "unreadable-report"

// scanProcess reads the row of a process, and judges it alone: a process is silent by the
// database's clock, and whatever the row holds is no error.
func scanProcess(r pgx.CollectableRow) (Process, error) {
	p := Process{Problems: []process.Problem{}, Partitions: []Reported{}}
	var started, seen, now, every float64
	var report string
	if err := r.Scan(&p.ID, &p.Consumer, &p.Name, &p.Version, &started, &seen, &now, &every, &report); err != nil {
		return p, err
	}
	unread := ""
	p.StartedAt, p.SeenAt = moment(started), moment(seen)
	if every > 0 && every <= (24*time.Hour).Seconds() && !p.StartedAt.IsZero() && !p.SeenAt.IsZero() {
		p.AgeSeconds, p.Silent, p.every = max(0, now-seen), now-seen > 3*every, time.Duration(every*float64(time.Second))
	} else {
		unread = "its times are invalid"
	}
	if unread == "" {
		unread = p.read(report)
	}
	if unread != "" {
		p.Problems, p.Partitions = []process.Problem{{
			Code: Unreadable, Since: p.SeenAt, Reason: "its row of idem_process cannot be read, so the states of its partitions are not known: " + unread,
			Do: "run the commands and the console of the service's version; if no process writes the row, delete it: DELETE FROM idem_process WHERE process = '" + p.ID + "'",
		}}, []Reported{}
	}
	return p, nil
}

// moment returns the time of so many seconds since 1970; the zero time for one that no process
// writes.
func moment(seconds float64) time.Time {
	if seconds > 0 && seconds < 1e11 {
		return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
	}
	return time.Time{}
}

// read reads the report of a row, and returns why that is not possible; "" if it is.
func (p *Process) read(report string) (unread string) {
	var in process.Report
	if err := json.Unmarshal([]byte(report), &in); err != nil {
		unread = "it is not a report, or too long"
		if field, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			unread = fmt.Sprintf("its member %q has another type", field.Field)
		}
		return unread
	}
	p.Problems = append(p.Problems, in.Problems...)
	p.More, p.Group, p.Relay = max(0, in.More), in.Group, in.Relay
	for i := range p.Problems {
		p.Problems[i].Do = words(p.Problems[i].Do)
	}
	for _, r := range in.Partitions {
		if r.Topic == "" || r.Partition < 0 {
			return "a partition has no name"
		}
		r.Do, r.Ways = words(r.Do), waysOf(Name{Consumer: p.Consumer, Topic: r.Topic, Partition: r.Partition}, r.Ways)
		if len(r.Ways) > 0 {
			r.Do = r.Ways[0].String()
		}
		p.Partitions = append(p.Partitions, Reported{p.Name, p.Silent, p.AgeSeconds, false, r})
	}
	return ""
}

// words returns advice of a process, which has no command: those are ways.
func words(do string) string {
	if strings.Contains(do, "idemgen ") {
		return "read the log of the process: it reports a command that this version does not know"
	}
	return do
}

// reports sets what processes report of streams, and returns what they report of other partitions.
// Former streams have no report: it is about the present topic. A partition makes no progress
// either if its service as a whole does not.
func reports(ctx context.Context, db DB, consumer string, streams []Status) (others map[Name]*Reported, err error) {
	processes, err := Processes(ctx, db, consumer)
	if err != nil {
		return nil, err
	}
	best, until := map[Name]*Reported{}, map[Name]time.Time{}
	for _, p := range processes {
		for i := range p.Partitions {
			r := &p.Partitions[i]
			if len(p.Problems) > 0 && !r.Stopped() {
				whole := p.Problems[0]
				r.Whole, r.Code, r.Since, r.Reason, r.Do = true, whole.Code, whole.Since, whole.Reason, whole.Do
			}
			at := Name{Consumer: p.Consumer, Topic: r.Topic, Partition: r.Partition}
			if was := best[at]; was == nil || prefer(r, was) < 0 {
				best[at], until[at] = r, p.until()
			}
		}
	}
	for i := range streams {
		if s := &streams[i]; !s.Former {
			at := Name{Consumer: s.Consumer, Topic: s.Topic, Partition: s.Partition}
			r := best[at]
			if delete(best, at); r != nil && r.Silent && s.worked().After(until[at]) {
				continue // another process had the partition since, and ended
			}
			s.Reported = r
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
