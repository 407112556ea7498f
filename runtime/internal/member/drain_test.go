//go:build unix

package member_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

// BenchmarkClient measures the CPU time of reading 100,000 records with each client: in an empty
// loop of the library, which is the least that its Source can take, and in the Source with a sink
// that does nothing. The broker runs in the same process and takes part of it.
func BenchmarkClient(b *testing.B) {
	const records = 100_000
	_, brokers := startCluster(b, drained)
	var all []*kgo.Record
	for i := range records {
		all = append(all, &kgo.Record{
			Topic: topicName, Partition: int32(i % drained), Key: []byte("device-000001"), Value: []byte(strings.Repeat("0123456789", 18)),
			Headers: []kgo.RecordHeader{{Key: "Idempotency-Key", Value: []byte("01890a5d-ac96-774b-bcce-b302099a8057")}},
		})
	}
	produceRecords(b, brokers, all...)
	for _, c := range clients {
		b.Run(c.name+"/library", func(b *testing.B) {
			measureCPU(b, func() { c.drain(b, brokers, records) })
		})
		b.Run(c.name+"/source", func(b *testing.B) {
			measureCPU(b, func() { drainSource(b, c, brokers, records) })
		})
	}
}

func measureCPU(b *testing.B, drain func()) {
	before := usedCPU(b)
	for b.Loop() {
		drain()
	}
	b.ReportMetric((usedCPU(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
}

func usedCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// dropping is a sink that counts records down.
type dropping struct {
	*fakeSink
	left atomic.Int64
	done chan struct{}
}

func (s *dropping) Deliver(_ context.Context, _ idem.Partition, records []idem.Message) error {
	if s.left.Add(-int64(len(records))) == 0 {
		close(s.done)
	}
	return nil
}

func drainSource(b *testing.B, c client, brokers string, records int) {
	sink := &dropping{fakeSink: newSink(b, newLedger()), done: make(chan struct{})}
	sink.left.Store(int64(records))
	s := c.open(&source{kind: kind{c, classic}, Brokers: brokers, Logger: slog.New(slog.DiscardHandler), session: session})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	sub := subscription()
	sub.BatchEvents, sub.BatchBytes = 500, 4<<20
	go func() { ended <- s.Run(ctx, sub, sink) }()
	happens(b, "all records are delivered", sink.done)
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
