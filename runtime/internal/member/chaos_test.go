package member_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

// chaos is a ledger of partitions whose sinks do at any moment whatever their contract allows:
// they are slow, fail for a while, are rewound, and stand by.
type chaos struct {
	mu     sync.Mutex
	random *rand.Rand
	calm   bool
	next   map[idem.Partition]int64
	owner  map[idem.Partition]*chaosSink
	done   map[idem.Partition]map[int64]bool // offsets below next that took effect
	wrong  []string
}

func newChaos(seed uint64) *chaos {
	return &chaos{random: rand.New(rand.NewPCG(seed, 0)), next: map[idem.Partition]int64{},
		owner: map[idem.Partition]*chaosSink{}, done: map[idem.Partition]map[int64]bool{}}
}

// oneIn and upTo need mu.
func (c *chaos) oneIn(n int) bool { return !c.calm && c.random.IntN(n) == 0 }

func (c *chaos) upTo(d time.Duration) time.Duration { return time.Duration(c.random.Int64N(int64(d))) }

// dawdle sleeps now and then.
func (c *chaos) dawdle(ctx context.Context) {
	c.mu.Lock()
	slow, d := c.oneIn(5), c.upTo(60*time.Millisecond)
	c.mu.Unlock()
	if slow {
		sleep(ctx, d)
	}
}

// rewind takes a partition back, as an operator or a failover does. It needs mu.
func (c *chaos) rewind(p idem.Partition) {
	to := max(0, c.next[p]-c.random.Int64N(60))
	for offset := range c.done[p] {
		if offset >= to {
			delete(c.done[p], offset)
		}
	}
	c.next[p], c.owner[p] = to, nil
}

// settled reports whether the positions are these.
func (c *chaos) settled(ends map[idem.Partition]int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calm = true
	for p, end := range ends {
		if c.next[p] != end {
			return false
		}
	}
	return true
}

type chaosSink struct {
	c     *chaos
	asked chan struct{} // holds one if Assigned was called
}

var errChaos = errors.New("for a while")

func (s *chaosSink) Assigned(ctx context.Context, a idem.Assignment) (idem.Position, error) {
	c := s.c
	select {
	case s.asked <- struct{}{}:
	default:
	}
	c.dawdle(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.oneIn(10) {
		return idem.Position{}, errChaos
	}
	c.owner[a.Partition] = s
	return idem.Position{Offset: c.next[a.Partition], Epoch: -1}, nil
}

// own needs mu.
func (s *chaosSink) own(p idem.Partition) error {
	if s.c.owner[p] != s {
		return &idem.FencedError{Partition: p, Reason: "another"}
	}
	return nil
}

func (s *chaosSink) Deliver(ctx context.Context, p idem.Partition, records []idem.Message) error {
	c := s.c
	c.dawdle(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.oneIn(15) {
		c.rewind(p)
	}
	if err := s.own(p); err != nil {
		return err
	}
	if c.done[p] == nil {
		c.done[p] = map[int64]bool{}
	}
	for _, m := range records {
		if m.Offset < c.next[p] {
			c.wrong = append(c.wrong, "a record came again")
		}
		c.next[p], c.done[p][m.Offset] = m.Offset+1, true
	}
	return nil
}

func (s *chaosSink) Idle(_ context.Context, p idem.Partition, end int64) error {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.oneIn(6) {
		c.rewind(p)
	}
	if err := s.own(p); err != nil {
		return err
	}
	c.next[p] = max(c.next[p], end)
	return nil
}

func (s *chaosSink) Standby(ctx context.Context, p idem.Partition) (idem.TakeOver, error) {
	c := s.c
	c.mu.Lock()
	wait := c.upTo(30 * time.Millisecond)
	c.mu.Unlock()
	if !sleep(ctx, wait) {
		return idem.TakeOver{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return idem.TakeOver{At: idem.Position{Offset: c.next[p], Epoch: -1}, Now: c.owner[p] == nil || c.random.IntN(2) == 0}, nil
}

func (s *chaosSink) Durable(idem.Partition) idem.Commit       { return idemtype.NoCommit }
func (s *chaosSink) Silent(idem.Partition, time.Time, string) {}
func (s *chaosSink) End(idem.Partition, int64, time.Time)     {}
func (s *chaosSink) Group(error)                              {}
func (s *chaosSink) Lost(p idem.Partition)                    { s.Revoked(p) }

func (s *chaosSink) Revoked(p idem.Partition) idem.Commit {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.c.owner[p] == s {
		s.c.owner[p] = nil
	}
	return idemtype.NoCommit
}

// chaoticProducer writes to both partitions until end: plainly and in transactions. Some
// of those are aborted, and some stay open for long. It returns what must take effect.
func chaoticProducer(t *testing.T, brokers string, random *rand.Rand, end time.Time) map[idem.Partition]map[int64]bool {
	client := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	plain, tx := client(), client(kgo.TransactionalID(t.Name()))
	committed := map[idem.Partition]map[int64]bool{{Topic: topicName}: {}, {Topic: topicName, Number: 1}: {}}
	for time.Now().Before(end) {
		p := idem.Partition{Topic: topicName, Number: random.Int32N(2)}
		records := make([]*kgo.Record, 1+random.IntN(20))
		for i := range records {
			records[i] = &kgo.Record{Topic: topicName, Partition: p.Number, Value: []byte("v")}
		}
		cl, commit := plain, true
		if random.IntN(3) > 0 {
			cl, commit = tx, random.IntN(3) > 0
			if err := tx.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
		}
		if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond))))
		if cl == tx {
			if err := tx.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range records {
			if commit {
				committed[p][r.Offset] = true
			}
		}
	}
	return committed
}

// Whatever the sinks and the members of the group do, every record takes effect at its place,
// and no partition is left behind.
func TestChaos(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		seed := rand.Uint64()
		t.Log("seed", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		cluster, brokers := startCluster(t, 2)
		c := newChaos(seed)
		sub := subscription()
		sub.BatchEvents, sub.BatchWait = 7, 5*time.Millisecond
		member := func() (stop func() error, asked chan struct{}) {
			s := open(t, brokers, k)
			s.pace.Idle, s.pace.Backoff, s.pace.MaxBackoff = 15*time.Millisecond, 5*time.Millisecond, 40*time.Millisecond
			asked = make(chan struct{}, 1)
			return start(t, s, sub, &chaosSink{c, asked}), asked
		}
		member()
		end := time.Now().Add(5 * time.Second)
		var second sync.WaitGroup
		second.Go(func() { // comes and goes
			for time.Now().Before(end) {
				stop, asked := member()
				<-asked // the broker misses for a minute who leaves while it joins
				time.Sleep(500 * time.Millisecond)
				if err := stop(); err != nil {
					t.Error(err)
				}
			}
		})
		committed := chaoticProducer(t, brokers, random, end)
		second.Wait()
		ends := map[idem.Partition]int64{}
		for p := range committed {
			ends[p] = cluster.PartitionInfo(topicName, p.Number).HighWatermark
		}
		eventually(t, "both partitions to their end", func() bool { return c.settled(ends) })
		c.mu.Lock()
		defer c.mu.Unlock()
		for p, want := range committed {
			for offset := range want {
				if !c.done[p][offset] {
					t.Errorf("offset %d of %v has no effect", offset, p)
				}
			}
			for offset := range c.done[p] {
				if !want[offset] {
					t.Errorf("offset %d of %v was aborted and has an effect", offset, p)
				}
			}
		}
		for _, text := range slices.Compact(c.wrong) {
			t.Error(text)
		}
	})
}
