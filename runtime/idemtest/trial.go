package idemtest

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
)

// trial is one scenario while it runs: a database, a consumer, and what was delivered to it.
type trial struct {
	*runner
	database
	want      *state // what must be left: that of the runner, unless the records are applied in another order
	source    string // where want comes from
	consumer  *idem.Consumer
	delivered map[recordOffset]int          // where a record of the log was delivered, copies aside
	ownDead   map[recordOffset]expectedDead // dead letters that the scenario itself makes
	reached   map[partition]int64           // the position that must be reached
	moved     bool                          // some record is not where the log has it
	asIs      map[recordOffset]bool         // records whose values are not packed
	inexact   bool                          // records are decided more than once, so that counters say little
	others
	calls   *calls      // of handlers, if they are counted
	blocked atomic.Bool // a connection waited for a transaction in which nothing ran
	broken  atomic.Bool // a batch failed: what follows says nothing
	told    bool        // the cause of the failure was told: what follows from it is not

	mu   sync.Mutex
	sent int64 // records handed to a Writer
}

// others are what a trial looks at beside the database.
type others struct {
	logged  *logLines
	effects *effects
}

// database is that of a trial, which fails the test if it cannot be read.
type database struct {
	t  testing.TB
	db *pgxpool.Pool
}

// partition is one of a topic.
type partition struct {
	topic  string
	number int32
}

// recordOffset is the place of a record.
type recordOffset struct {
	partition
	offset int64
}

func partitionOf(m idem.Message) partition { return partition{m.Topic, m.Partition} }

func placeOf(m idem.Message) recordOffset { return recordOffset{partitionOf(m), m.Offset} }

func (c *runner) newTrial(t testing.TB) *trial {
	t.Helper()
	first, second, err := c.before()
	if err != nil {
		t.Fatalf("idemtest: what is there before the log: %v", err)
	}
	db := prepared(t, first, second)
	b := &trial{
		runner: c, database: database{t, db}, want: c.want, source: c.source, others: others{&logLines{}, newEffects(c)},
		delivered: map[recordOffset]int{}, ownDead: map[recordOffset]expectedDead{}, reached: map[partition]int64{}, asIs: map[recordOffset]bool{},
	}
	b.consumer = newProcess(b)
	return b
}

// newProcess makes a consumer, as each process of the service does.
func newProcess(b *trial) *idem.Consumer {
	b.t.Helper()
	restore := b.logged.capture() // generated constructors take the default logger
	consumer, err := b.start(b.t, b.db)
	restore()
	if err != nil {
		b.t.Fatalf("idemtest: make the consumer: %v", err)
	}
	return consumer
}

// messages are records where the log has them.
func (b *trial) messages(log []record) (out []idem.Message) {
	for _, r := range log {
		out = append(out, b.at(r, r.message.Partition, r.message.Offset))
	}
	return out
}

// at is a record of the log at a place, where it is expected to have its effect.
func (b *trial) at(r record, partition int32, offset int64) idem.Message {
	m := b.copied(r, partition, offset)
	b.delivered[placeOf(m)] = r.index
	b.moved = b.moved || partition != r.message.Partition || offset != r.message.Offset
	return m
}

// copied is a copy of a record at another place, where it must have no effect.
func (b *trial) copied(r record, partition int32, offset int64) idem.Message {
	m := r.message
	m.Partition, m.Offset = partition, offset
	b.reached[partitionOf(m)] = max(b.reached[partitionOf(m)], offset+1)
	return m
}

// end is the first offset of partition 0 of the record's topic that was not used yet.
func (b *trial) end(r record) int64 { return b.reached[partition{r.message.Topic, 0}] }

// recordsOf are the records of the log that were delivered at the places of messages.
func (b *trial) recordsOf(messages []idem.Message) (out []record) {
	for _, m := range messages {
		if index, known := b.delivered[placeOf(m)]; known {
			out = append(out, b.log[index])
		}
	}
	return out
}

func (b *trial) isDead(r record) bool {
	_, dead := b.want.dead[r.index]
	return dead
}

func (b *trial) takeOver(p partition) *Writer {
	b.t.Helper()
	w, err := b.tryTakeOver(p)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

func (b *trial) tryTakeOver(p partition) (*Writer, error) {
	w, err := Own(b.t, b.consumer, p.topic, p.number, 0)
	if err != nil {
		return nil, fmt.Errorf("taking over partition %d of %s: %w", p.number, p.topic, err)
	}
	return w, nil
}

// apply takes the partition over and applies records as one batch; those of several topics as one
// for each run of records of one topic.
func (b *trial) apply(records ...idem.Message) idem.Result {
	b.t.Helper()
	return b.owners().deliver(records)
}

// owners are the writers of the partitions of a log. Each is taken over when it is first needed.
type owners struct {
	b  *trial
	of map[partition]*Writer
}

func (b *trial) owners() owners { return owners{b, map[partition]*Writer{}} }

func (o owners) writer(p partition) *Writer {
	o.b.t.Helper()
	w, err := o.tryWriter(p)
	if err != nil {
		o.b.t.Fatal(err)
	}
	return w
}

// tryWriter is writer for any goroutine.
func (o owners) tryWriter(p partition) (w *Writer, err error) {
	if o.of[p] == nil {
		if o.of[p], err = o.b.tryTakeOver(p); err != nil {
			return nil, err
		}
	}
	return o.of[p], nil
}

// all takes the partitions of all records over.
func (o owners) all() owners {
	o.b.t.Helper()
	for _, r := range o.b.log {
		o.writer(partitionOf(r.message))
	}
	return o
}

// deliver applies records in their order, as many at once as are of one partition.
func (o owners) deliver(records []idem.Message) (all idem.Result) {
	o.b.t.Helper()
	for len(records) > 0 {
		n := together(records, len(records))
		all = sum(all, o.b.deliver(o.writer(partitionOf(records[0])), records[:n]))
		records = records[n:]
	}
	return all
}

// together is how many of the first records are of one partition, at most so many.
func together(records []idem.Message, most int) int {
	n := 1
	for n < min(most, len(records)) && partitionOf(records[n]) == partitionOf(records[0]) {
		n++
	}
	return n
}

// deliver applies one batch until it is durable. A record that the scenario itself made
// may halt the partition instead of becoming a dead letter, if the spec says so.
func (b *trial) deliver(w *Writer, records []idem.Message) (res idem.Result) {
	b.t.Helper()
	for len(records) > 0 && !b.broken.Load() {
		done, err := b.try(b.t.Context(), w, records)
		if err == nil {
			return done
		}
		halted, ok := errors.AsType[*idem.HaltedError](err)
		if !ok || !b.skip(recordOffset{partitionOf(records[0]), halted.Offset}) {
			b.broken.Store(true)
			b.told = notWritten(err)+misfit(err) != ""
			b.t.Errorf("applying a batch of %d from offset %d: %v%s", len(records), records[0].Offset, inTest(err), b.likelyCause(err))
			return res
		}
		of := partitionOf(records[0])
		records = after(records, halted.Offset)
		*w = *b.takeOver(of)
	}
	return res
}

// skip reports whether a record at a place may halt, and expects no dead letter of it then.
func (b *trial) skip(at recordOffset) bool {
	_, mine := b.ownDead[at]
	delete(b.ownDead, at)
	b.inexact = b.inexact || mine
	return mine
}

func after(records []idem.Message, offset int64) []idem.Message {
	for len(records) > 0 && records[0].Offset <= offset {
		records = records[1:]
	}
	return records
}

// A batch is tried again for so long while the runtime says that it should be; for less
// once that has run out, so that a test which fails ends.
const (
	patience  = time.Minute
	impatient = time.Second
)

// try applies a batch again after errors that pass: deadlocks, and handlers that ask for it.
// A partition that halts because of too many dead letters in a row is released: w becomes the
// writer of the new owner.
func (b *trial) try(ctx context.Context, w *Writer, records []idem.Message) (idem.Result, error) {
	b.mu.Lock()
	b.sent += int64(len(records))
	b.mu.Unlock()
	res, err := b.tryOnce(ctx, w, records)
	for halted, ok := errors.AsType[*idem.HaltedError](err); ok && halted.Code == halt.DeadLetters; halted, ok = errors.AsType[*idem.HaltedError](err) {
		Release(b.t, b.db, records[0].Topic, records[0].Partition)
		own, ownErr := Own(b.t, b.consumer, records[0].Topic, records[0].Partition, 0)
		if ownErr != nil {
			return res, ownErr
		}
		*w = *own
		b.mu.Lock()
		b.inexact = true // the record before which it halted was searched for by both owners
		b.mu.Unlock()
		rest := after(records, halted.Offset-1)
		var more idem.Result
		more, err = b.tryOnce(ctx, w, rest)
		res = sum(res, more)
	}
	return res, err
}

func sum(a, b idem.Result) idem.Result {
	return idem.Result{
		Applied: a.Applied + b.Applied, Duplicates: a.Duplicates + b.Duplicates, Conflicts: a.Conflicts + b.Conflicts,
		Dead: a.Dead + b.Dead, Ignored: a.Ignored + b.Ignored,
	}
}

func (b *trial) tryOnce(ctx context.Context, w *Writer, records []idem.Message) (idem.Result, error) {
	end := time.Now().Add(patience)
	if b.exhausted.Load() {
		end = time.Now().Add(impatient)
	}
	for ; ; time.Sleep(time.Millisecond) {
		quick := b.lookForLocks()
		res, err := w.Apply(b.calls.in(b.effects.in(ctx)), packedAll(b, records))
		quick()
		_, halted := errors.AsType[*idem.HaltedError](err)
		if err == nil || halted || isFenced(err) || errors.Is(err, errCrash) {
			return res, err
		}
		if time.Now().After(end) {
			b.exhausted.Store(true)
			return res, err
		}
		b.mu.Lock()
		b.inexact = true // what a failed call applied counts as redelivered in the next
		b.mu.Unlock()
	}
}

// atOnce runs functions at the same time.
func (b *trial) atOnce(fs ...func()) {
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(f)
	}
	wg.Wait()
}

// logLines keeps what the runtime logs, to be shown if the scenario fails.
type logLines struct {
	mu   sync.Mutex
	text []byte
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) < 16<<10 {
		l.text = append(l.text, p...)
	}
	return len(p), nil
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// capture makes l the default logger until the returned function is called. slog's default
// also redirects package log, which is put back, too.
func (l *logLines) capture() (restore func()) {
	logger, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(l, nil)))
	return func() {
		slog.SetDefault(logger)
		log.SetOutput(writer)
		log.SetFlags(flags)
	}
}
