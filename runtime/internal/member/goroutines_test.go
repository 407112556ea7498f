package member_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A process may have so many goroutines for a consumer, and for each of its partitions: one of
// its own, one for the handler that runs, one of the driver that reads while a batch is sent, and
// one that gives the partition up.
const (
	perConsumer  = 12
	perPartition = 4
)

// goroutines are those of this process that are not the broker's.
func goroutines() (list []string) {
	buf := make([]byte, 1<<20)
	for _, one := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if !strings.Contains(one, "twmb/franz-go") {
			list = append(list, one)
		}
	}
	return list
}

// mostGoroutines counts again and again, until it is asked how many there were at most.
func mostGoroutines() (most func() []string) {
	stop, done := make(chan struct{}), make(chan []string)
	go func() {
		var seen []string
		for {
			if now := goroutines(); len(now) > len(seen) {
				seen = now
			}
			select {
			case <-time.After(2 * time.Millisecond):
			case <-stop:
				done <- seen
				return
			}
		}
	}()
	return func() []string {
		close(stop)
		return <-done
	}
}

// deployed runs a consumer that is a deployment of its own, until stop is called.
func deployed(t *testing.T, db *pgxpool.Pool, brokers string, k kind) (c *idem.Consumer, stop func()) {
	c = consumerOf(t, db, func() wire.Plan { return &called{} })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, open(t, brokers, k)) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return c, stop
}

// works counts the partitions that a deployment has taken over.
func works(c *idem.Consumer) (n int) {
	for _, p := range c.Stats().Partitions {
		if p.State == "READY" {
			n++
		}
	}
	return n
}

// Batches, handlers and rebalances leave no goroutine behind: there are never more than so many
// for each consumer and partition, and none when all have ended. It runs by itself, so that no
// other test's are counted.
func TestGoroutinesAreBounded(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { goroutinesAreBounded(t, kind{c, classic}) })
	}
}

func goroutinesAreBounded(t *testing.T, k kind) {
	const partitions, rounds, records = 4, 3, 300
	_, brokers := startCluster(t, partitions)
	db := diaryDB(t)
	before := goroutines()
	most := mostGoroutines()
	n := 0
	more := func() {
		t.Helper()
		n += partitions * records
		produce(t, brokers, records, 0, 1, 2, 3)
		eventually(t, "all records", func() bool { return query(t, db, `SELECT count(*)::int FROM diary`) == n })
	}
	_, stopFirst := deployed(t, db, brokers, k)
	more()
	for range rounds {
		second, stopSecond := deployed(t, db, brokers, k)
		eventually(t, "the second deployment has taken two over", func() bool { return works(second) == 2 })
		more()
		stopSecond()
		more()
	}
	stopFirst()
	if list := most(); len(list)-len(before) > 2*perConsumer+partitions*perPartition {
		t.Errorf("%d goroutines, %d before:\n%s", len(list), len(before), strings.Join(list, "\n\n"))
	} else {
		t.Logf("%d goroutines at most, %d before", len(list), len(before))
	}
	eventually(t, "as many as before", func() bool { return len(goroutines()) <= len(before) })
}
