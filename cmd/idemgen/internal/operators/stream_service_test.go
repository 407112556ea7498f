//go:build cgo

package operators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	liveTopic = "live.v1"
	// countSQL counts how often each record takes effect.
	countSQL = `
WITH e AS (SELECT unnest($1::integer[]) AS id)
INSERT INTO effects (id, times) SELECT id, 1 FROM e ORDER BY id ON CONFLICT (id) DO UPDATE SET times = effects.times + 1`
)

// live is a consumer at work: a broker, a database, and the service between them. A record
// is "put id" or "call id", which calls the handler.
type live struct {
	t       *testing.T
	broker  *idemtest.Broker
	db      *pgxpool.Pool
	spec    wire.Service
	handler atomic.Pointer[func(ctx context.Context, tx wire.Tx) error]
	panics  atomic.Bool // in generated code
	current *idem.Consumer
	stop    func()
}

func newLive(t *testing.T) *live {
	l := &live{t: t, broker: idemtest.Kafka(t, map[string]int32{liveTopic: 1}), db: idemtest.DB(t), stop: func() {}}
	idemtest.Migrate(t, l.db, filepath.Join(commandtest.Repository, "templates", "sql"))
	idemtest.Exec(t, l.db, `CREATE TABLE effects (id integer PRIMARY KEY, times integer NOT NULL)`)
	l.spec = wire.Service{
		Consumer: "live", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 10 * time.Millisecond, BatchTimeout: 2 * time.Second, EventTimeout: time.Second,
			StatementTimeout: 2 * time.Second, LockTimeout: time.Second, MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 10,
		},
		Topics: []wire.Topic{{
			Name: liveTopic, StartFrom: wire.Earliest, Ordered: true,
			OnFailure: wire.FailurePolicy{StopAfter: 100, Keep: time.Hour},
			NewPlan:   func() wire.Plan { return &livePlan{live: l} },
		}},
	}
	t.Cleanup(func() { l.stop() })
	return l
}

// livePlan is what generated code is to the service.
type livePlan struct {
	live *live
	rows wire.Rows
}

func (p *livePlan) Add(b *wire.Batch, m *wire.Message) error {
	verb, rest, _ := strings.Cut(string(m.Value), " ")
	id, err := strconv.ParseInt(rest, 10, 32)
	switch {
	case err != nil:
		return &wire.DecodeError{Event: "Live", Path: "id", Reason: "must be a number"}
	case p.live.panics.Load():
		panic("a bug")
	case verb == "call":
		b.Call(m, wire.Call{Event: "Live", Fn: func(ctx context.Context, tx wire.Tx) error {
			if h := p.live.handler.Load(); h != nil {
				return (*h)(ctx, tx)
			}
			return idem.ErrNotImplemented
		}})
		return nil
	}
	b.Puts(wire.Row("effects").Int(id))
	p.rows.Row().Int4(int32(id))
	return nil
}

func (p *livePlan) Flush(b *wire.Batch) { b.Write(countSQL, &p.rows) }

// handle sets the handler.
func (l *live) handle(h func(ctx context.Context, tx wire.Tx) error) { l.handler.Store(&h) }

// start runs the service, after stopping the one that ran.
func (l *live) start() {
	l.t.Helper()
	l.stop()
	c, err := idem.New(l.db, l.spec, idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- c.Run(ctx, &confluent.Source{Brokers: l.broker.Addr(), Logger: slog.New(slog.DiscardHandler), Config: kafka.ConfigMap{
			"session.timeout.ms": 6000, "heartbeat.interval.ms": 200, "topic.metadata.refresh.interval.ms": 200,
		}})
	}()
	l.current = c
	l.stop = func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Errorf("the service ended: %v", err)
		}
		l.stop = func() {}
	}
}

// produce sends records to partition 0.
func (l *live) produce(values ...string) {
	l.t.Helper()
	l.produceTo(0, values...)
}

// produceTo sends records to a partition, on a client that knows the topic as it is now.
func (l *live) produceTo(partition int32, values ...string) {
	l.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(l.broker.Addr()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for _, v := range values {
		if err := c.ProduceSync(l.t.Context(), &kgo.Record{Topic: liveTopic, Partition: partition, Value: []byte(v)}).FirstErr(); err != nil {
			l.t.Fatal(err)
		}
	}
}

// ask sends a request to the broker.
func (l *live) ask(request kmsg.Request) {
	l.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(l.broker.Addr()))
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Request(l.t.Context(), request); err != nil {
		l.t.Fatal(err)
	}
}

// eventually waits until cond holds.
func (l *live) eventually(what string, cond func() bool) {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			l.t.Fatalf("not in a minute: %s; effects %q, health: %v", what, l.effects(), l.current.Health().Err())
		}
	}
}

// effects are how often each record took effect, as "id=times".
func (l *live) effects() string {
	l.t.Helper()
	var text string
	if err := l.db.QueryRow(l.t.Context(), `SELECT coalesce(string_agg(id || '=' || times, ' ' ORDER BY id), '') FROM effects`).Scan(&text); err != nil {
		return err.Error()
	}
	return text
}

// halts waits until the partition is halted with a code, and returns its error. Health, the
// process's report and the problems of pages and commands have the same cause and command.
func (l *live) halts(code halt.Code) *idem.HaltedError {
	l.t.Helper()
	var halted *idem.HaltedError
	health := func() (all error) { // with what is paused
		for _, p := range l.current.Health() {
			all = errors.Join(all, p.Err)
		}
		return all
	}
	l.eventually("halted by "+string(code), func() bool {
		h, ok := errors.AsType[*idem.HaltedError](health())
		halted = h
		return ok && h.Code == code
	})
	if text := fmt.Sprint(health()); !strings.Contains(text, "["+string(code)+"; then: "+halted.Ways[0].String()+"]") {
		l.t.Errorf("Health does not tell the code and the command: %s", text)
	}
	l.eventually("the halt is reported", func() bool {
		all, err := operate.Processes(l.t.Context(), l.db, "live")
		return err == nil && len(all) == 1 && !all[0].Silent && slices.ContainsFunc(all[0].Partitions, func(r operate.Reported) bool {
			return r.State == code.State() && r.Code == string(code) && r.Do == halted.Ways[0].String()
		})
	})
	state, err := operate.StateOf(l.t.Context(), l.db, "live")
	if err != nil {
		l.t.Fatal(err)
	}
	if !slices.ContainsFunc(state.Problems, func(p operate.Problem) bool {
		return p.Code == string(code) && (p.Cause == halted.Cause() || code == halt.Paused) && p.Ways[0].Command == halted.Ways[0].String()
	}) {
		l.t.Errorf("pages and commands do not say what Health does: %+v, not %q", state.Problems, halted.Cause())
	}
	return halted
}

// idemgen runs a command line that begins with the program's name.
func (l *live) idemgen(line string) {
	l.t.Helper()
	args := strings.Fields(line)
	if len(args) < 2 || args[0] != "idemgen" || args[1] != "stream" {
		l.t.Fatalf("%q is no command", line)
	}
	code, stdout, stderr := run(l.t, append(args[1:], "--database", l.db.Config().ConnString())...)
	if code != done || stdout == "" {
		l.t.Fatalf("%s: exit code %d\n%s%s", line, code, stdout, stderr)
	}
}
