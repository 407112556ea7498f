// Package process is the row of the table idem_process: what a running process says of itself.
// runtime/internal/report writes it, and internal/operate reads it. It must not import any package
// of this module but runtime/halt.
package process

import (
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
)

// Report is the column of the table, as JSON.
type Report struct {
	Problems   []Problem  `json:"problems"` // of the process as a whole
	Partitions []Assigned `json:"partitions"`
	More       int        `json:"more"`            // number of partitions that were left out
	Group      string     `json:"group,omitempty"` // of Kafka, if it has another name than the consumer
	Relay      *Relay     `json:"relay,omitempty"` // of a relay of the outbox, which has no consumer; else nil
}

// Relay is the state of a relay.
type Relay struct {
	Leads bool  `json:"leads"` // of all relays, it is the one that sends
	Sent  int64 `json:"sent"`  // events that the broker acknowledged, since it started
}

// Problem is why a process as a whole makes no progress.
type Problem struct {
	Code   string    `json:"code"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
	Do     string    `json:"do"`
	Event  *Event    `json:"event,omitempty"` // that the broker rejects; nil if the problem is another one
}

// Codes of a relay whose events the broker rejects.
const (
	TopicMissing = "topic-missing"
	TooLarge     = "too-large"
	Refused      = "refused" // for another reason
)

// Event is a row of idem_outbox: the first event that the broker rejects.
type Event struct {
	ID     string `json:"id"`
	Topic  string `json:"topic"`
	Bytes  int    `json:"bytes"`  // of its payload
	Letter bool   `json:"letter"` // it is a dead letter
}

// Assigned is a partition that is assigned to the process. Code, Reason, Do and Ways are empty
// while it makes progress. Position, End and Lag are -1 while unknown.
type Assigned struct {
	Topic      string     `json:"topic"`
	Partition  int32      `json:"partition"`
	State      string     `json:"state"`
	Since      time.Time  `json:"since"` // when it entered the state, or the problem began
	Position   int64      `json:"position"`
	End        int64      `json:"end"`
	Lag        int64      `json:"lag"`
	LagSeconds float64    `json:"lag_seconds"`
	Applied    int64      `json:"applied"` // since it was assigned, like the next two
	Duplicates int64      `json:"duplicates"`
	Dead       int64      `json:"dead"`
	Code       string     `json:"code"`
	Reason     string     `json:"reason"`
	Do         string     `json:"do"`
	Ways       []halt.Way `json:"ways,omitempty"` // out of a halt, without names: they are about this partition
}
