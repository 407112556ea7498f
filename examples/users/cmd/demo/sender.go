package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// sender sends the events of accounts.
type sender interface {
	// crash has it die, and another one go on. It says what happened.
	crash(ctx context.Context) (string, error)
}

// relays are two relays: the first one dies.
type relays struct {
	w     *world
	dying *dying
	first func() error
}

func (w *world) openRelays() (sender, error) {
	r := &relays{w: w, dying: &dying{dead: make(chan struct{})}}
	var err error
	r.first, err = r.run(func(p outbox.Producer) outbox.Producer {
		r.dying.Producer = p
		return r.dying
	})
	return r, err
}

func (r *relays) run(through func(outbox.Producer) outbox.Producer) (end func() error, err error) {
	sender, err := producer.New(r.w.brokers, nil)
	if err != nil {
		return nil, err
	}
	relay := &outbox.Relay{DB: r.w.accounts.pool, Producer: through(sender)}
	return r.w.beside("the relay of accounts", relay.Run, sender.Close), nil
}

func (r *relays) crash(ctx context.Context) (string, error) {
	select {
	case <-r.dying.dead:
	case <-time.After(patience):
		return "", fmt.Errorf("the relay has not sent %d events within %v; -v shows the logs", mostAcked, patience)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err := r.first(); err != nil {
		return "", err
	}
	_, err := r.run(func(p outbox.Producer) outbox.Producer { return p })
	return fmt.Sprintf("the relay was cut off behind %d acknowledgements, and did not hear of the next ones; another one goes on", mostAcked), err
}

var errCutOff = errors.New("the relay is cut off")

// mostAcked is how many acknowledgements the first relay lives.
const mostAcked = 100

// dying is the producer of a relay that is cut off when the broker has records, and the relay does
// not know it yet: from then on it sends nothing.
type dying struct {
	outbox.Producer
	acked atomic.Int64
	dead  chan struct{}
}

// Produce implements outbox.Producer.
func (d *dying) Produce(r outbox.Record, done func(error)) {
	if d.acked.Load() > mostAcked {
		go done(errCutOff)
		return
	}
	d.Producer.Produce(r, func(err error) {
		n := d.acked.Add(1)
		if n > mostAcked {
			err = errCutOff
		}
		if n == mostAcked+1 {
			close(d.dead)
		}
		done(err)
	})
}

// connect is Debezium in a worker of Kafka Connect.
type connect struct {
	*kafkatest.Connect
	settings []byte
}

const (
	connector = "idem-outbox"
	role      = "debezium"
	password  = "demo" // of a server that ends with this process
)

// openConnect does what docs/outbox.md says: the table for Debezium, a role, a connector.
func (w *world) openConnect(ctx context.Context) (sender, error) {
	sql := outbox.Migration(outbox.ByDebezium) + `CREATE ROLE ` + role + ` LOGIN REPLICATION PASSWORD '` + password + `'`
	if _, err := w.accounts.pool.Exec(ctx, sql); err != nil {
		return nil, err
	}
	c := &connect{}
	var err error
	if c.Connect, err = kafkatest.RunConnect(ctx, w.brokers, "IDEM_OUTBOX_PASSWORD="+password); err != nil {
		return nil, err
	}
	w.closes = append(w.closes, c.Close)
	u, err := url.Parse(w.accounts.URL())
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "tool", "idemgen", "outbox", "connector", "--name", connector,
		"--host", u.Hostname(), "--port", u.Port(), "--user", role, "--dbname", strings.TrimPrefix(u.Path, "/"))
	cmd.Stderr = &stderr
	if c.settings, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("idemgen outbox connector: %w: %s", err, &stderr)
	}
	return c, c.begin(ctx)
}

// begin gives the worker the connector, and waits until it runs.
func (c *connect) begin(ctx context.Context) error {
	if err := c.Put(ctx, connector, c.settings); err != nil {
		return err
	}
	return until(ctx, "the connector runs", func() (bool, error) {
		state, _, err := c.Status(ctx, connector)
		return err == nil && state == "RUNNING", nil
	})
}

func (c *connect) crash(ctx context.Context) (string, error) {
	if err := c.Crash(); err != nil {
		return "", err
	}
	if err := c.Restart(ctx); err != nil {
		return "", err
	}
	return "Kafka Connect was killed with -9; it is started again, and goes on from its slot", c.begin(ctx)
}
