package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const (
	events     = 300
	partitions = 3
	patience   = 15 * time.Second // without progress; idemgen overtakes a frozen process in 7 s
	limit      = 3 * time.Minute
	hopeless   = 8 // starts of a process in a row without any progress
)

// cell is one way under one fault, with a broker, a database and processes of its own.
type cell struct {
	*stage
	way     way
	fault   fault
	broker  *idemtest.Broker
	url     string
	db      *pgxpool.Pool // not through any proxy
	wire    *cutproxy.Proxy
	waited  bool     // nothing went on while a process was frozen
	invalid int      // records that are no events
	away    bool     // Postgres is, so a process that ends is no sign
	current *process // one process consumes; another one takes its place when it ends
	started []*process
	proxies []*cutproxy.Proxy
}

// play returns what became of the events.
func (s *stage) play(ctx context.Context, w way, f fault) (verdict string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := &cell{stage: s, way: w, fault: f}
	defer c.close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %s: %w", w.name, f.name, err)
		}
	}()
	if c.broker, err = idemtest.StartBroker(map[string]int32{topic: partitions, poisonTopic: 1, bookedTopic: 1}); err != nil {
		return "", err
	}
	if c.url, err = s.newDatabase(ctx); err != nil {
		return "", err
	}
	if c.db, err = pgxpool.New(ctx, c.url); err != nil {
		return "", err
	}
	if c.wire, err = c.newProxy(); err != nil {
		return "", err
	}
	if err := f.do(ctx, c); errors.Is(err, errStops) || errors.Is(err, errWaits) {
		return "stops", nil
	} else if err != nil {
		return "", c.explain(err)
	}
	return c.audit(ctx)
}

func (c *cell) close() {
	for _, p := range c.started {
		p.kill()
	}
	for _, p := range c.proxies {
		p.Close()
	}
	if c.db != nil {
		c.db.Close()
	}
	if c.broker != nil {
		c.broker.Close()
	}
}

// explain adds the last lines of the processes to an error.
func (c *cell) explain(err error) error {
	for _, p := range c.started {
		err = fmt.Errorf("%w\n%s:\n%s", err, filepath.Base(p.log), p.lastLines())
	}
	return err
}

// newProxy is a way for processes to Postgres.
func (c *cell) newProxy() (*cutproxy.Proxy, error) {
	u, err := url.Parse(c.url)
	if err != nil {
		return nil, err
	}
	p, err := cutproxy.New("tcp", u.Host)
	if err == nil {
		c.proxies = append(c.proxies, p)
	}
	return p, err
}

// start starts a process, which reaches Postgres through c.wire.
func (c *cell) start(ctx context.Context) error {
	u, err := url.Parse(c.url)
	if err != nil {
		return err
	}
	u.Host = c.wire.Addr().String()
	log := filepath.Join(c.logs, fmt.Sprintf("%s.%s.%d.log", plain(c.way.name), plain(c.fault.name), len(c.started)))
	c.current, err = launch(ctx, c.program, log, envWay+"="+c.way.name, envBrokers+"="+c.broker.Addr(), envDatabase+"="+u.String())
	if err == nil {
		c.started = append(c.started, c.current)
	}
	return err
}

// name is the account and the key of an event. All are equally long, so none is part of another.
func name(event int) string { return fmt.Sprintf("event-%04d", event) }

// record is the record of an event. They go to the partitions in turn.
func record(event int) *wire.Message {
	return &wire.Message{
		Topic: topic, Partition: int32(event % partitions), Key: []byte(name(event)),
		Value:   fmt.Appendf(nil, `{"account_id":%q,"cents":100}`, name(event)),
		Headers: []wire.Header{{Name: keyHeader, Value: []byte(name(event))}},
	}
}

// send sends the events from one number to before another.
func (c *cell) send(ctx context.Context, from, to int) error {
	var list []*wire.Message
	for i := from; i < to; i++ {
		list = append(list, record(i))
	}
	return c.broker.Produce(ctx, list...)
}

var (
	errStops = errors.New("each process ends without progress")
	errWaits = fmt.Errorf("no progress for %v, and the process lives", patience)
)

// settle starts the process again whenever it ended, as an orchestrator does, until the group has
// committed all offsets.
func (c *cell) settle(ctx context.Context) error {
	return c.supervise(ctx, func() (bool, error) {
		return slices.Equal(c.broker.Committed(group, topic), c.broker.Ends(topic)), nil
	})
}

// supervise does that until a condition is true, or returns errStops or errWaits.
func (c *cell) supervise(ctx context.Context, done func() (bool, error)) error {
	progress, ends, since := "", 0, time.Now()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		now, err := c.progress(ctx)
		if err != nil {
			return err
		}
		if now != progress {
			progress, ends, since = now, 0, time.Now()
		}
		if c.current.ended() {
			if ends++; ends > hopeless && !c.away {
				return errStops
			}
			if err := c.start(ctx); err != nil {
				return err
			}
		}
		if time.Since(since) > patience {
			return errWaits
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// progress is a text that differs whenever something happened.
func (c *cell) progress(ctx context.Context) (text string, err error) {
	err = c.db.QueryRow(ctx, `SELECT coalesce(sum(bookings), 0)::text FROM accounts`).Scan(&text)
	return fmt.Sprint(text, c.broker.Committed(group, topic)), err
}

// strikes waits until a rule of a proxy fires, with a process that consumes.
func (c *cell) strikes(ctx context.Context, fired <-chan struct{}) error {
	err := c.supervise(ctx, func() (bool, error) { return is(fired), nil })
	if err != nil {
		err = fmt.Errorf("before the fault: %v", err)
	}
	return err
}

// audit compares what is booked with the events. An invalid record must be kept where an operator
// finds it: in idemgen's table of dead letters, or in a topic.
func (c *cell) audit(ctx context.Context) (string, error) {
	var lost, doubled int
	err := c.db.QueryRow(ctx, `SELECT count(*) FILTER (WHERE bookings = 0), coalesce(sum(bookings - 1) FILTER (WHERE bookings > 1), 0) FROM accounts`).
		Scan(&lost, &doubled)
	if err != nil {
		return "", err
	}
	var kept int
	if err := c.db.QueryRow(ctx, `SELECT count(*) FROM idem_dead_letter`).Scan(&kept); err != nil {
		return "", err
	}
	kept += int(c.broker.Ends(poisonTopic)[0])
	return verdict(c.waited, lost+max(0, c.invalid-kept), doubled, c.fault.many || c.fault.strikesAll && c.way.several), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// logTail is how much of a process's log is shown.
const logTail = 2 << 10

func lastLines(file string) string {
	text, _ := os.ReadFile(file)
	return string(text[max(0, len(text)-logTail):])
}

// plain is a name as part of a file's.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}
