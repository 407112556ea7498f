// Package doctor looks at what is around a service: its database, its topics, its Redis. It
// changes nothing. It must not import any package of this module but internal/avromsg,
// internal/operate, internal/pgtable, internal/retention, runtime/avro/registry and
// runtime/redislease.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/pgtable"
)

// State is what came of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warning State = "warn" // the service runs; read it
	Failure State = "FAIL" // the service does not run, or not as it should
	Skipped State = "skip" // it was not asked for, or could not be
)

// Check is one thing that was looked at.
type Check struct {
	State  State  `json:"state"`
	About  string `json:"about"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // what to do
}

// Service is what is looked at, and what it needs.
type Service struct {
	Consumer string
	Group    string         // of Kafka; "" is what the processes report, or else the consumer's name
	Schema   map[string]int // versions of the runtime's tables, by part
	Tables   []pgtable.Want
	Topics   []Topic
	Effects  bool
}

// Topic is a topic that the service reads.
type Topic struct {
	Name      string
	StartFrom string        // earliest, latest or committed
	Window    time.Duration // the shortest one of its keys; 0 if it stores none
	Fixed     bool          // the service relies on the number of partitions: another one halts them
	Schemas   []Schema      // of values and record keys whose writers' schemas are in a registry
}

// Schema is an Avro schema.
type Schema struct {
	Of     string // "-value" or "-key": how subjects of the registry end
	Text   string
	Record string // what is meant in it; "" is all of it
}

// Around is where to look. What is zero is skipped.
type Around struct {
	Database *pgxpool.Pool
	NoAnswer error // why there is no Database, although one was named
	Waits    *Waits
	Kafka    []kgo.Opt
	Redis    string // its URL; "" is none
	Registry string // of schemas; its URL; "" is none
}

// patience is how long one question may take.
const patience = 10 * time.Second

// Examine looks at everything, and returns what it found in the order in which one would mend it.
func Examine(ctx context.Context, s Service, a Around) []Check {
	e := &examination{Service: s, Around: a, stopped: map[place]string{}}
	e.database(ctx)
	if e.Group == "" {
		e.Group = e.Consumer
	}
	e.kafka(ctx)
	e.schemas(ctx)
	e.redis(ctx)
	return e.checks
}

// examination is one call of Examine.
type examination struct {
	Service
	Around
	checks  []Check
	ledgers map[string]map[int32]ledger // by topic and partition; nil if the database was not asked
	stopped map[place]string            // partitions that make no progress, or whose state is not known, with the code of their problem
}

func (e *examination) add(state State, about, advice, found string, args ...any) {
	e.checks = append(e.checks, Check{state, about, fmt.Sprintf(found, args...), advice})
}

// reach is what to do about a server that does not answer.
const reach = "check that it runs, that the address is right, and that this machine can reach it"

// manual is advice that is in the manual, by its heading.
func manual(section string) string {
	return `read "` + section + `" in idemgen's docs/operations.md`
}

// count is a number of things: "1 partition", "2 partitions".
func count[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// failed adds a question that got no answer.
func (e *examination) failed(about string, err error) {
	if wait := e.Waits.take(); wait != nil {
		e.add(Failure, about, "end that session, or wait until its transaction ends, and run doctor again", "%v", wait)
		return
	}
	advice := "check that this role, or this client, has the right to query it"
	if _, is := errors.AsType[*net.OpError](err); is {
		advice = reach
	}
	e.add(Failure, about, advice, "no answer: %v", err)
}
