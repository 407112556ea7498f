package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtest/cutproxy"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	partitions = 4
	group      = "order-projector"
	// maxPoll is how long a broker waits for a member that joined and then fell silent, by the
	// spec 5 minutes; the service's source waits up to 10 s for partitions to be taken over.
	maxPoll = 12 * time.Second
	// session is how long it waits for one that fell silent, if it shares partitions out itself.
	session = 1500 * time.Millisecond
)

// theatre is the stage of one fault: a server, a broker and processes of its own.
type theatre struct {
	kit      *kit
	fault    fault
	postgres *idemtest.Postgres
	standby  *idemtest.Postgres // of postgres; nil if the fault wants none
	broker   *idemtest.Broker
	kafka    *cutproxy.Proxy // in front of the broker
	wire     *cutproxy.Proxy // in front of Postgres; processes use it if the fault says so
	dsn      string          // what processes get
	shop     *shop.Maker
	paid     audit.Handler // what the handler of OrderPaid must do
	watch    *watch
	disk     string         // folder of a file system of the server's own
	clock    string         // file with the seconds by which the server's clock is ahead
	extra    []func() error // closes what the fault opened
	running  []*stage.Process
	started  []*stage.Process // ever

	making sync.Mutex // of messages
	mu     sync.Mutex
	ends   map[int32]int64 // of the log, by partition
	log    []*wire.Message // what consumers must see, in the order of production
	// members are the client ids of processes that the group may know.
	members map[*stage.Process]string
	direct  string // URL of the database that counts
}

func (k *kit) open(ctx context.Context, f fault) (_ *theatre, err error) {
	t := &theatre{kit: k, fault: f, shop: shop.New(7, partitions), ends: map[int32]int64{}, members: map[*stage.Process]string{}}
	t.shop.Recent = 40
	if t.paid = f.paid; t.paid == nil {
		t.paid = audit.AddPayment
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	o := f.postgres
	o.Durable, o.TCP = true, true
	if f.disk != "" {
		if o.Dir, err = t.mountDisk(f.disk); err != nil {
			return t, err
		}
	}
	if f.clock {
		if o.Env, err = t.makeClock(ctx); err != nil {
			return t, err
		}
	}
	if t.postgres, err = idemtest.StartPostgres(ctx, o); err != nil {
		return t, err
	}
	t.direct, t.dsn = t.postgres.URL(), t.postgres.URL()
	if t.wire, t.dsn, err = proxyFor(t.direct); err != nil {
		return t, err
	}
	if !f.proxied {
		t.dsn = t.direct
	}
	if err := t.startBroker(); err != nil {
		return t, err
	}
	if err := t.postgres.Migrate(ctx, filepath.Join(example, "migrations")); err != nil {
		return t, err
	}
	if err := t.exec(ctx, audit.JournalSQL); err != nil {
		return t, err
	}
	t.watch = startWatch(ctx, t)
	return t, nil
}

// startBroker starts a broker with a proxy in front of it.
func (t *theatre) startBroker() (err error) {
	o := idemtest.BrokerOptions{Session: session}
	if t.fault.kept {
		if o.Dir, err = os.MkdirTemp("", "idemgen-broker-"); err != nil {
			return err
		}
		t.extra = append(t.extra, func() error { return os.RemoveAll(o.Dir) })
	}
	o.Front = func(address string) (string, error) {
		var err error
		t.kafka, err = cutproxy.New("tcp", address)
		if err != nil {
			return "", err
		}
		return t.kafka.Addr().String(), nil
	}
	t.broker, err = idemtest.StartBrokerWith(map[string]int32{shop.Topic: partitions}, o)
	return err
}

// proxyFor puts a proxy in front of the server of a URL.
func proxyFor(direct string) (*cutproxy.Proxy, string, error) {
	u, err := url.Parse(direct)
	if err != nil {
		return nil, "", err
	}
	p, err := cutproxy.New("tcp", u.Host)
	if err != nil {
		return nil, "", err
	}
	u.Host = p.Addr().String()
	return p, u.String(), nil
}

func (t *theatre) close() error {
	var errs []error
	if t.watch != nil {
		t.watch.end()
	}
	for _, p := range t.started {
		errs = append(errs, p.Kill())
	}
	if t.broker != nil {
		t.broker.Close()
	}
	for _, p := range []*cutproxy.Proxy{t.kafka, t.wire} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	if t.standby != nil {
		errs = append(errs, t.standby.Close())
	}
	if t.postgres != nil {
		errs = append(errs, t.postgres.Close())
	}
	for _, f := range t.extra {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// database is the URL of the database that counts.
func (t *theatre) database() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.direct
}

// follow makes another database the one that counts.
func (t *theatre) follow(p *idemtest.Postgres) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.direct = p.URL()
}

// exec runs SQL on the database that counts.
func (t *theatre) exec(ctx context.Context, sql string) error { return execAt(ctx, t.database(), sql) }

func execAt(ctx context.Context, at, sql string) error {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// start starts a process of the service with more environment.
func (t *theatre) start(ctx context.Context, env ...string) (*stage.Process, error) {
	return t.launch(ctx, env, t.kit.program("service"))
}

func (t *theatre) launch(ctx context.Context, env []string, argv ...string) (*stage.Process, error) {
	id := fmt.Sprintf("process-%d", len(t.started))
	env = append([]string{script.Client + "=" + id, script.Protocol + "=" + t.fault.protocol, script.MaxPoll + "=" + maxPoll.String(), script.Brokers + "=" + t.kafka.Addr().String(), script.Database + "=" + t.dsn}, env...)
	p, err := stage.Start(ctx, env, argv...)
	if err != nil {
		return nil, err
	}
	t.running = append(t.running, p)
	t.started = append(t.started, p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members[p] = id
	return p, nil
}

// startWorking starts n processes and waits until one of them owns a partition.
func (t *theatre) startWorking(ctx context.Context, n int, env ...string) error {
	for range n {
		if _, err := t.start(ctx, env...); err != nil {
			return err
		}
	}
	return stage.Until(ctx, 30*time.Second, func() (bool, error) { return slices.ContainsFunc(t.running, (*stage.Process).Owns), t.dead() })
}

// forget takes a process from those that must live.
func (t *theatre) forget(p *stage.Process) {
	for i, q := range t.running {
		if q == p {
			t.running = append(t.running[:i:i], t.running[i+1:]...)
			return
		}
	}
}

// kill kills a process for good.
func (t *theatre) kill(p *stage.Process) error {
	t.forget(p)
	return p.Kill()
}

// dead is an error if a process that must live has ended.
func (t *theatre) dead() error {
	for _, p := range t.running {
		if err := p.Dead(); err != nil {
			return err
		}
	}
	return nil
}

// stopAll ends the processes as a deployment does.
func (t *theatre) stopAll() error {
	var errs []error
	for _, p := range t.running {
		errs = append(errs, p.Term())
	}
	for _, p := range t.running {
		errs = append(errs, p.Finish())
	}
	t.running = nil
	return errors.Join(errs...)
}

// logged counts a text in what all processes ever logged.
func (t *theatre) logged(text string) int {
	n := 0
	for _, p := range t.started {
		n += p.Log.Count(text)
	}
	return n
}

// says waits until some process logs text.
func (t *theatre) says(ctx context.Context, text string, patience time.Duration) error {
	err := stage.Until(ctx, patience, func() (bool, error) { return t.logged(text) > 0, nil })
	if errors.Is(err, stage.ErrTimeout) {
		return fmt.Errorf("no process said %q in %v; last lines:\n%s", text, patience, t.started[len(t.started)-1].Log)
	}
	return err
}
