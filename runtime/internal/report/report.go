// Package report keeps one row of the table idem_process up to date, in which a running process
// says how it and its partitions are, so that operators can read it in the database.
//
//	Writer: reads the process's own state in memory, 4 times a second
//	  changed, or 5 s old -> one UPSERT on a connection of its own
//	  the process ends    -> the row is deleted
//
// The protocol never reads the row. If it cannot be written, the log says so, and nothing else
// changes: partitions neither wait for the writer nor see its errors. The row then grows old, and
// readers must treat the state as not known. It must not import any package of this module but
// backoff, frequency, outage, verdict and internal/process.
package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/internal/frequency"
)

// The bounds of a row.
const (
	mostPartitions = 1000
	mostText       = 1000 // characters of one text
)

// bound sorts the partitions, those that make no progress first, and cuts what would make the row
// too large or unfit for jsonb.
func bound(r *process.Report) {
	slices.SortFunc(r.Partitions, func(a, b process.Assigned) int {
		return cmp.Or(works(a)-works(b), strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	if n := len(r.Partitions); n > mostPartitions {
		r.Partitions, r.More = r.Partitions[:mostPartitions], r.More+n-mostPartitions
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		p.Since, p.Reason, p.Do = p.Since.UTC(), Text(p.Reason), Text(p.Do)
	}
	for i := range r.Partitions {
		p := &r.Partitions[i]
		p.Since, p.Reason, p.Do = p.Since.UTC(), Text(p.Reason), Text(p.Do)
	}
}

func works(p process.Assigned) int {
	if p.Code == "" {
		return 1
	}
	return 0
}

// Text returns a text as Postgres stores it: valid UTF-8 without NUL, of at most 1000 characters.
func Text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if r := []rune(s); len(r) > mostText {
		s = string(r[:mostText])
	}
	return s
}

// column returns the row's column. Lists are never null in it.
func column(r *process.Report) (string, error) {
	c := *r
	c.Problems = append([]process.Problem{}, c.Problems...)
	c.Partitions = append([]process.Assigned{}, c.Partitions...)
	text, err := json.Marshal(c)
	return string(text), err
}

// changed reports whether a report must be written at once: it has other partitions, states, codes
// or reasons. Numbers in reasons do not count, because many reasons contain a duration. Positions
// do not count either.
func changed(a, b *process.Report) bool {
	sameProblem := func(a, b process.Problem) bool {
		return a.Code == b.Code && frequency.SameButNumbers(a.Reason, b.Reason)
	}
	samePartition := func(a, b process.Assigned) bool {
		return a.Topic == b.Topic && a.Partition == b.Partition && a.State == b.State && a.Code == b.Code &&
			frequency.SameButNumbers(a.Reason, b.Reason)
	}
	return a.More != b.More || !slices.EqualFunc(a.Problems, b.Problems, sameProblem) || !slices.EqualFunc(a.Partitions, b.Partitions, samePartition)
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

// times remembers since when partitions are in their states.
type times map[place]process.Assigned

// keep sets Since of each partition: the time at which it was first seen like this, or at which
// its problem began, whichever is earlier. A problem remains the same one if only its words change
// and the position stays.
func (t *times) keep(r *process.Report, now time.Time) {
	next := make(times, len(r.Partitions))
	for i := range r.Partitions {
		p := &r.Partitions[i]
		if p.Since.IsZero() {
			p.Since = now
		}
		at := place{p.Topic, p.Partition}
		was, known := (*t)[at]
		if known && was.State == p.State && was.Code == p.Code && (p.Code == "" || was.Position == p.Position) && was.Since.Before(p.Since) {
			p.Since = was.Since
		}
		next[at] = *p
	}
	*t = next
}
