package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// longest is what a run may take.
const longest = 5 * time.Minute

// contest is everything that the contenders share: one broker, whose logs are produced once, and
// one server.
type contest struct {
	size
	dir        string
	taking     []contender
	programs   map[string]string // by contender
	logs       map[string]log
	broker     *idemtest.Broker
	db         *database
	redis      *redistest.Server // nil if nobody needs it
	sums       map[string]string // what the first one left, by log
	conditions string
}

func newContest(ctx context.Context, s size, taking []contender) (*contest, error) {
	c := &contest{size: s, taking: taking, programs: map[string]string{}, logs: map[string]log{}, sums: map[string]string{}}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *contest) open(ctx context.Context) (err error) {
	if c.dir, err = os.MkdirTemp("", "idemgen-bench-"); err != nil {
		return err
	}
	if err := c.build(ctx); err != nil {
		return err
	}
	if err := c.produce(ctx); err != nil {
		return err
	}
	if c.db, err = startDatabase(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(c.taking, contender.inRedis) {
		if c.redis, err = redistest.Run(ctx, redisConf); err != nil {
			return err
		}
	}
	settings, err := c.db.settings(ctx)
	c.conditions = fmt.Sprintf("%s; broker in memory, %d partitions; %s", settings, partitions, c.size.conditions())
	return err
}

// redisConf writes down each change, as it is on by default where Redis keeps anything.
var redisConf = map[string]string{"appendonly": "yes", "appendfsync": "everysec"}

func (c *contest) close() error {
	if c.broker != nil {
		c.broker.Close()
	}
	var err error
	if c.db != nil {
		err = c.db.close()
	}
	if c.redis != nil {
		err = errors.Join(err, c.redis.Close())
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

func (c *contest) build(ctx context.Context) (err error) {
	built := map[string]string{}
	for _, one := range c.taking {
		of := one.binary
		if built[of.name] == "" {
			if built[of.name], err = of.build(ctx, c.dir, of.name); err != nil {
				return err
			}
		}
		c.programs[one.name] = built[of.name]
	}
	if c.profiles != "" {
		if c.profiles, err = filepath.Abs(c.profiles); err == nil {
			err = os.MkdirAll(c.profiles, 0o755)
		}
	}
	return err
}

// produce starts the broker with the logs that are needed.
func (c *contest) produce(ctx context.Context) (err error) {
	topics := map[string]int32{}
	for _, l := range logs(c.readings, c.handled, c.copies) {
		if slices.ContainsFunc(c.taking, func(one contender) bool { return one.log == l.name }) {
			c.logs[l.name], topics[l.topic] = l, partitions
		}
	}
	if c.broker, err = idemtest.StartBroker(topics); err != nil {
		return err
	}
	for _, l := range c.logs {
		if err := l.produce(ctx, c.broker); err != nil {
			return err
		}
	}
	return nil
}

// run has every contender consume its log once per round. Another one is the first of each round.
func (c *contest) run(ctx context.Context) (map[string][]measurement, error) {
	runs := map[string][]measurement{}
	for round := range c.rounds {
		for i := range c.taking {
			one := c.taking[(round+i)%len(c.taking)]
			m, err := c.once(ctx, one, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", one.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %-28s %8.0f records/s, %5.1f s of CPU, %5.1f s in the database, peak %3.0f MiB\n",
				round+1, c.rounds, one.name, m.speed(), m.CPU.Seconds(), m.DatabaseCPU.Seconds(), m.PeakMiB)
			runs[one.name] = append(runs[one.name], m)
		}
	}
	return runs, nil
}

// once is one run, against an empty database and without committed offsets.
func (c *contest) once(ctx context.Context, one contender, round int) (m measurement, err error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	l := c.logs[one.log]
	if err := forgetGroups(ctx, c.broker.Addr()); err != nil {
		return m, err
	}
	url, err := c.db.fresh(ctx, l)
	if err != nil {
		return m, err
	}
	env := []string{"KAFKA_BROKERS=" + c.broker.Addr(), "DATABASE_URL=" + url, "TOPIC=" + l.topic, fmt.Sprintf("RECORDS=%d", l.records+l.copies)}
	if one.inRedis() {
		if _, err := c.redis.Do(ctx, "FLUSHALL"); err != nil {
			return m, err
		}
		env = append(env, "REDIS_ADDR="+c.redis.Addr())
	}
	if c.profiles != "" {
		env = append(env, "CPUPROFILE="+filepath.Join(c.profiles, fmt.Sprintf("%s-%d.pprof", one.name, round+1)))
	}
	before, err := c.db.cpu(ctx)
	if err != nil {
		return m, err
	}
	if m, err = consume(ctx, c.programs[one.name], one.args, env); err != nil {
		return m, err
	}
	after, err := c.db.cpu(ctx)
	if err != nil {
		return m, err
	}
	m.Consumed, m.DatabaseCPU = int64(l.records+l.copies), after-before
	return m, c.compare(ctx, l)
}

// compare is an error if a run did not leave what every other run of its log left.
func (c *contest) compare(ctx context.Context, l log) error {
	effects, sum, err := c.db.left(ctx, l)
	if err != nil {
		return err
	}
	if c.sums[l.name] == "" {
		c.sums[l.name] = sum
	}
	if effects != l.records || sum != c.sums[l.name] {
		return fmt.Errorf("%d of %d records took effect, and the rows are %s, want %s", effects, l.records, sum, c.sums[l.name])
	}
	return nil
}
