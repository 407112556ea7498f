package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// operator runs commands of idemgen, one after the other, while other things happen.
type operator struct {
	part   *part
	random *rand.Rand
	stop   context.CancelFunc
	ended  chan error
	upsets atomic.Int64 // odd while the database is away, or another one comes

	ran, failed int

	mu   sync.Mutex
	made []decision
	over bool // there are no more, and all have an answer
}

// decision is a command about a dead letter.
type decision struct {
	audit.Decision
	begun, ended time.Time
}

// upset is an incident in which commands may not reach the database.
func (o *operator) upset(do func(context.Context, *part) error) func(context.Context, *part) error {
	return func(ctx context.Context, p *part) error {
		o.upsets.Add(1)
		defer o.upsets.Add(1)
		return do(ctx, p)
	}
}

func (o *operator) start(ctx context.Context) {
	o.random = rand.New(rand.NewPCG(o.part.random.Uint64(), 0))
	ctx, o.stop = context.WithCancel(ctx)
	o.ended = make(chan error, 1)
	go func() {
		for {
			err := o.next(context.WithoutCancel(ctx))
			if err == nil && stage.Pause(ctx, time.Duration(o.random.IntN(1000))*time.Millisecond) == nil {
				continue
			}
			if err != nil {
				o.part.stopped.Store(true)
			}
			o.ended <- err
			return
		}
	}()
}

// end ends the commands, and waits until each request has an answer.
func (o *operator) end(ctx context.Context) error {
	o.stop()
	if err := <-o.ended; err != nil {
		return err
	}
	err := stage.Until(ctx, patience, func() (answered bool, err error) {
		conn, err := pgx.Connect(ctx, o.part.database())
		if err != nil {
			return false, err
		}
		defer conn.Close(ctx)
		err = conn.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM idem_dead_letter WHERE asked IS NOT NULL)`).Scan(&answered)
		return answered, errors.Join(err, o.part.dead())
	})
	if err != nil {
		return fmt.Errorf("requests about dead letters have no answer: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	return nil
}

// undid reports whether a restore may have undone a decision.
func (s *servers) undid(d decision) bool {
	for _, r := range s.restored {
		if d.ended.After(r.copied) && d.begun.Before(r.back) {
			return true
		}
	}
	return false
}

// decisions are those made until now. Before the end none must have been carried out.
func (o *operator) decisions() (all []audit.Decision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.made {
		d.Must = d.Must && o.over && !o.part.undid(d)
		all = append(all, d.Decision)
	}
	return all
}

// next runs one command, or two.
func (o *operator) next(ctx context.Context) error {
	log := o.part.messages()
	if len(log) == 0 {
		return nil
	}
	m := log[o.random.IntN(len(log))]
	switch o.random.IntN(10) {
	case 0:
		_, _, err := o.run(ctx, "stream", "list")
		return err
	case 1:
		_, _, err := o.run(ctx, "stream", "list", "--json")
		return err
	case 2:
		_, _, err := o.run(ctx, "dead", "list", "--state", "all")
		return err
	case 3:
		if o.part.monitor.partitions()[m.Partition] == 0 { // it has no ledger yet
			return nil
		}
		_, _, err := o.run(ctx, "find", shop.Topic, "--offset", fmt.Sprintf("%d:%d", m.Partition, m.Offset))
		return err
	case 4:
		_, _, err := o.run(ctx, "outbox", "migration")
		return err
	}
	return o.decide(ctx)
}

// decide has an open dead letter replayed or discarded.
func (o *operator) decide(ctx context.Context) error {
	out, ok, err := o.run(ctx, "dead", "list", "--json", "--limit", "200")
	if !ok {
		return err
	}
	var list struct {
		Letters []struct {
			Partition int32  `json:"partition"`
			Offset    int64  `json:"offset"`
			Class     string `json:"class"`
			Request   struct {
				For string `json:"for"`
			} `json:"request"`
		} `json:"dead_letters"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("dead list --json: %w: %s", err, out)
	}
	if len(list.Letters) == 0 {
		return nil
	}
	l := list.Letters[o.random.IntN(len(list.Letters))]
	if l.Request.For != "" { // nobody has answered yet
		return nil
	}
	d := decision{Decision: audit.Decision{Place: audit.Place{Partition: l.Partition, Offset: l.Offset}, To: audit.Replayed}}
	verb, must := "replay", l.Class == "database" && o.exists(ctx, d.Place)
	if o.random.IntN(2) == 0 {
		verb, must, d.To = "discard", true, audit.Discarded
	}
	d.begun = time.Now()
	o.mu.Lock()
	o.made = append(o.made, d)
	o.mu.Unlock()
	_, ok, err = o.run(ctx, "dead", verb, shop.Topic, fmt.Sprintf("%d:%d", d.Partition, d.Offset), "--reason", "soak")
	o.mu.Lock()
	defer o.mu.Unlock()
	last := &o.made[len(o.made)-1]
	last.Must, last.ended = ok && must, time.Now()
	return err
}

// exists reports whether the order of a record is there for sure.
func (o *operator) exists(ctx context.Context, at audit.Place) (is bool) {
	conn := connect(ctx, o.part.database())
	if conn == nil {
		return false
	}
	defer conn.Close(ctx)
	for _, m := range o.part.messages() {
		if m.Partition == at.Partition && m.Offset == at.Offset {
			err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM orders WHERE order_id = $1::text::uuid)`, string(m.Key)).Scan(&is)
			return is && err == nil
		}
	}
	return false
}

// away is what commands say while they cannot reach the database, or it is another one.
var away = regexp.MustCompile(`connect to the database|connection|starting up|shutting down|EOF|standby|no dead letter`)

// run runs a command. ok is false if it failed as it may while the database is away.
func (o *operator) run(ctx context.Context, args ...string) (out []byte, ok bool, err error) {
	before := o.upsets.Load()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.part.kit.program("idemgen"), args...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), script.Database+"="+o.part.dsn), &said
	out, err = cmd.Output()
	o.ran++
	switch {
	case err == nil:
		return out, true, nil
	case (before%2 == 1 || o.upsets.Load() != before) && away.MatchString(said.String()+string(out)):
		o.failed++
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("idemgen %s: %w: %s%s", strings.Join(args, " "), err, out, &said)
}

// did tells what was commanded.
func (o *operator) did() string {
	must := 0
	for _, d := range o.made {
		if d.Must {
			must++
		}
	}
	return fmt.Sprintf("%d commands of operators, %d while the database was away; %d dead letters replayed or discarded", o.ran, o.failed, must)
}
