package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

var shardFaults = []fault{
	{name: "one database becomes three, under load, while processes and a server are killed", alone: resharded},
}

const (
	bookings      = "bookings.v1"
	bookingsParts = 6
	bookingsOwner = "account-keeper"
	// perShards is how long the service runs with each number of databases.
	perShards = 6 * time.Second
)

// bank is a service whose partitions are spread over several servers.
type bank struct {
	kit     *kit
	broker  *idemtest.Broker
	servers []*idemtest.Postgres
	pools   []*pgxpool.Pool

	mu    sync.Mutex
	sums  map[string][2]int64 // cents and bookings, by account
	n     int                 // records, with copies
	kills int
}

// resharded follows docs/scaling.md from one database to three: it stops the service, makes a
// standby of the database for each further shard, promotes them, and says to each which shard it
// is. A process of the former deployment comes back, and must not apply anything.
func resharded(ctx context.Context, k *kit) (_ *outcome, err error) {
	b := &bank{kit: k, sums: map[string][2]int64{}}
	defer func() { err = errors.Join(err, b.close()) }()
	if b.broker, err = idemtest.StartBroker(map[string]int32{bookings: bookingsParts}); err != nil {
		return nil, err
	}
	first, err := idemtest.StartPostgres(ctx, idemtest.PostgresOptions{Durable: true, TCP: true})
	if err == nil {
		err = b.add(ctx, first)
	}
	if err == nil {
		err = first.Migrate(ctx, filepath.Join("examples", "shards", "migrations"))
	}
	if err != nil {
		return nil, err
	}
	producing, enough := context.WithCancel(ctx)
	defer enough()
	produced := make(chan error, 1)
	go func() { produced <- b.produce(producing) }()
	if err := b.serve(ctx, perShards, nil); err != nil {
		return nil, err
	}
	if err := b.reshard(ctx, 3); err != nil {
		return nil, err
	}
	if err := b.former(ctx); err != nil {
		return nil, err
	}
	if err := b.serve(ctx, perShards, b.servers[1]); err != nil {
		return nil, err
	}
	enough()
	if err := <-produced; err != nil {
		return nil, err
	}
	if err := b.finish(ctx); err != nil {
		return nil, err
	}
	findings, err := b.audit(ctx)
	return &outcome{did: fmt.Sprintf("%d processes and 1 server", b.kills), records: b.n, findings: findings}, err
}

// add takes a server as the next shard.
func (b *bank) add(ctx context.Context, s *idemtest.Postgres) error {
	b.servers = append(b.servers, s)
	pool, err := pgxpool.New(ctx, s.URL())
	if err == nil {
		b.pools = append(b.pools, pool)
	}
	return err
}

func (b *bank) close() error {
	var errs []error
	for _, p := range b.pools {
		p.Close()
	}
	for _, s := range b.servers {
		errs = append(errs, s.Close())
	}
	if b.broker != nil {
		b.broker.Close()
	}
	return errors.Join(errs...)
}

// start starts a process with some of the servers.
func (b *bank) start(ctx context.Context, id string, servers []*idemtest.Postgres) (*stage.Process, error) {
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.URL())
	}
	env := []string{script.Database + "=" + strings.Join(urls, ","), script.Brokers + "=" + b.broker.Addr(), script.Client + "=" + id, script.Library + "=franz"}
	return stage.Start(ctx, env, b.kit.program("sharded"))
}

// serve runs two processes with all servers for a while, kills one of them again and again, and
// once a server, if there is one.
func (b *bank) serve(ctx context.Context, d time.Duration, victim *idemtest.Postgres) (err error) {
	var running [2]*stage.Process
	var ids [2]string
	kill := func(i int) error { return errors.Join(running[i].Kill(), b.broker.Expel(ctx, bookingsOwner, ids[i])) }
	begin := func(i, round int) (err error) {
		ids[i] = fmt.Sprintf("keeper-%d-%d-%d", len(b.servers), i, round)
		running[i], err = b.start(ctx, ids[i], b.servers)
		return err
	}
	for i := range running {
		if err := begin(i, 0); err != nil {
			return err
		}
	}
	for round, end := 1, time.Now().Add(d); time.Now().Before(end); round++ {
		if err := b.applies(ctx); err != nil {
			return fmt.Errorf("%w\n%.2000s", err, running[round%2].Log.String())
		}
		if round == 2 && victim != nil {
			if err := errors.Join(victim.Crash(), stage.Pause(ctx, 300*time.Millisecond), victim.Restart()); err != nil {
				return err
			}
		}
		b.kills++
		if err := errors.Join(kill(round%2), begin(round%2, round)); err != nil {
			return err
		}
	}
	return errors.Join(kill(0), kill(1))
}

// applies waits until each shard has applied some more records.
func (b *bank) applies(ctx context.Context) error {
	for _, shard := range b.pools {
		first := int64(-1)
		err := stage.Until(ctx, time.Minute, func() (bool, error) {
			var sum int64
			err := shard.QueryRow(ctx, `SELECT coalesce(sum(bookings), 0)::bigint FROM accounts`).Scan(&sum)
			if err != nil { // it was just killed
				return false, nil
			}
			if first < 0 {
				first = sum
			}
			return sum >= first+100, nil
		})
		if err != nil {
			return fmt.Errorf("a shard applies nothing: %w", err)
		}
	}
	return nil
}

// former starts a process that knows of one database only, which must halt.
func (b *bank) former(ctx context.Context) error {
	p, err := b.start(ctx, "former", b.servers[:1])
	if err != nil {
		return err
	}
	err = stage.Until(ctx, time.Minute, func() (bool, error) {
		return p.Log.Count("other-shard") >= bookingsParts, nil
	})
	if err != nil {
		err = fmt.Errorf("a process with the former number of shards did not halt: %w\n%.2000s", err, p.Log.String())
	}
	return errors.Join(err, p.Kill(), b.broker.Expel(ctx, bookingsOwner, "former"))
}

// reshard makes n databases of one.
func (b *bank) reshard(ctx context.Context, n int) error {
	for i := 1; i < n; i++ {
		s, err := b.servers[0].Standby(ctx, fmt.Sprintf("shard-%d", i), idemtest.PostgresOptions{Durable: true, TCP: true})
		if err == nil {
			err = errors.Join(b.add(ctx, s), promote(ctx, s))
		}
		if err != nil {
			return err
		}
	}
	for i, s := range b.servers {
		cmd := exec.CommandContext(ctx, b.kit.program("idemgen"), "stream", "shard", "--consumer", bookingsOwner,
			"--number", fmt.Sprint(i), "--of", fmt.Sprint(n), "--reason", "more load", "--operator", "faults")
		cmd.Env = append(os.Environ(), "DATABASE_URL="+s.URL())
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("stream shard: %w: %s", err, out)
		}
	}
	return nil
}

// partitionOfAccount is where all records of an account are.
func partitionOfAccount(account string) int32 {
	h := fnv.New32a()
	h.Write([]byte(account))
	return int32(h.Sum32() % bookingsParts)
}

// produce sends bookings, and copies of earlier ones, until its context ends.
func (b *bank) produce(ctx context.Context) error {
	r := rand.New(rand.NewPCG(3, 9))
	type booking struct {
		account string
		cents   int64
	}
	var all []booking
	for ctx.Err() == nil {
		var records []*idem.Message
		b.mu.Lock()
		for range 20 {
			id := r.IntN(max(1, len(all)))
			if len(all) == 0 || r.IntN(5) > 0 {
				id = len(all)
				all = append(all, booking{fmt.Sprintf("account-%d", r.IntN(40)), r.Int64N(1000)})
				sum := b.sums[all[id].account]
				b.sums[all[id].account] = [2]int64{sum[0] + all[id].cents, sum[1] + 1}
			}
			is := all[id]
			records = append(records, &idem.Message{Topic: bookings, Partition: partitionOfAccount(is.account), Key: []byte(is.account),
				Headers: []idem.Header{{Name: "Idempotency-Key", Value: fmt.Append(nil, id)}}, Value: fmt.Appendf(nil, `{"cents": %d}`, is.cents)})
		}
		b.n += len(records)
		b.mu.Unlock()
		if err := b.broker.Produce(context.WithoutCancel(ctx), records...); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// finish has the service apply what is left.
func (b *bank) finish(ctx context.Context) error {
	p, err := b.start(ctx, "last", b.servers)
	if err != nil {
		return err
	}
	ends := b.broker.Ends(bookings)
	err = stage.Until(ctx, time.Minute, func() (bool, error) {
		for number, end := range ends {
			var next int64
			err := b.pools[number%len(b.pools)].QueryRow(ctx, `SELECT coalesce((SELECT next FROM idem_ledger JOIN idem_stream USING (stream) WHERE partition = $1 ORDER BY seq DESC LIMIT 1), 0)`, number).Scan(&next)
			if err != nil || next < end {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		err = fmt.Errorf("not all records were applied: %w\n%.2000s", err, p.Log.String())
	}
	return errors.Join(err, p.Kill())
}

// audit compares the rows of each account, in its shard, with what was sent.
func (b *bank) audit(ctx context.Context) (found []audit.Finding, err error) {
	for account, want := range b.sums {
		var got [2]int64
		shard := b.pools[int(partitionOfAccount(account))%len(b.pools)]
		if err := shard.QueryRow(ctx, `SELECT coalesce(max(cents), 0), coalesce(max(bookings), 0) FROM accounts WHERE account_id = $1`, account).Scan(&got[0], &got[1]); err != nil {
			return nil, err
		}
		kind := audit.Lost
		if got[1] > want[1] {
			kind = audit.Doubled
		}
		if got != want {
			found = append(found, audit.Finding{Kind: kind, What: fmt.Sprintf("%s has %d cents of %d bookings, want %d of %d", account, got[0], got[1], want[0], want[1])})
		}
	}
	for i, shard := range b.pools {
		var dead int
		if err := shard.QueryRow(ctx, `SELECT count(*) FROM idem_dead_letter`).Scan(&dead); err != nil {
			return nil, err
		}
		if dead > 0 {
			found = append(found, audit.Finding{Kind: audit.Lost, What: fmt.Sprintf("%d dead letters in shard %d", dead, i)})
		}
	}
	return found, nil
}
