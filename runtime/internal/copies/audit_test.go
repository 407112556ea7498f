package copies_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/copies"
	"github.com/idemgen/idemgen/templates"
)

const window = time.Hour

// bench is a database with chains of a consumer, and its audit.
type bench struct {
	*copies.Audit
	t       *testing.T
	db      *pgxpool.Pool
	log     *bytes.Buffer
	windows map[string]time.Duration // by topic
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	db := idemtest.Migrated(t, filepath.Join(dir, "sql"))
	b := &bench{t: t, db: db, log: &bytes.Buffer{}, windows: map[string]time.Duration{"x": window, "y": window}}
	b.Audit = b.process()
	return b
}

// process is the audit of another process.
func (b *bench) process() *copies.Audit {
	return &copies.Audit{
		Consumer: "a", Windows: copies.Windows{Topics: []string{"^x$", "^y$"}, Of: func(topic string) time.Duration { return b.windows[topic] }}, Found: &atomic.Int64{},
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
}

// audit runs the audit once, on a connection of its own.
func (b *bench) audit() {
	b.t.Helper()
	conn, err := pgx.ConnectConfig(b.t.Context(), b.db.Config().ConnConfig)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := b.Run(b.t.Context(), conn); err != nil {
		b.t.Fatal(err)
	}
}

// chain begins the chain of a partition of a topic whose id is that number.
func (b *bench) chain(topic string, id, partition int) (stream int) {
	b.t.Helper()
	err := b.db.QueryRow(b.t.Context(), `WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ('a', $1, lpad($2::int::text, 32, '0')::uuid, $3) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq) SELECT stream, 0, gen_random_uuid(), 100, 100, 'g', -1, 1, 1, 0 FROM s RETURNING stream`, topic, id, partition).Scan(&stream)
	if err != nil {
		b.t.Fatal(err)
	}
	return stream
}

// add appends a row of ten offsets with the keys of these numbers, written some time ago.
func (b *bench) add(stream int, ago time.Duration, numbers ...int) {
	b.t.Helper()
	var keys []byte
	for _, n := range numbers {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
		keys = append(append(keys, sum[:16]...), 0, 0, 0, 0)
	}
	idemtest.Exec(b.t, b.db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, keys, written_at)
SELECT stream, seq + 1, gen_random_uuid(), next, next + 10, 'b', -1, 1, 1, window_seq, $2, clock_timestamp() - $3::interval FROM idem_ledger WHERE stream = $1 ORDER BY seq DESC LIMIT 1`, stream, keys, ago)
}

// alarms checks how many keys were found, and in how many lines of the log.
func (b *bench) alarms(what string, keys, lines int) {
	b.t.Helper()
	if got, told := b.Found.Load(), strings.Count(b.log.String(), "level=ERROR"); got != int64(keys) || told != lines {
		b.t.Errorf("%s: %d keys in %d lines, want %d in %d\n%s", what, got, told, keys, lines, b.log)
	}
}

func numbers(from, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = from + i
	}
	return all
}

func TestKeyInTwoPartitionsIsAnAlarmWithBothPlaces(t *testing.T) {
	b := newBench(t)
	three, seven := b.chain("x", 1, 3), b.chain("x", 1, 7)
	b.add(three, 2*time.Minute, 1, 2)
	b.add(seven, 0, 9)
	b.audit()
	b.alarms("no key twice", 0, 0)
	if err := b.Why(); err != nil {
		t.Errorf("no key twice: %v", err)
	}
	b.add(seven, time.Minute, 8, 2, 1)
	for range 3 { // once
		b.audit()
	}
	b.alarms("two keys of one row twice", 2, 1)
	for _, want := range []string{
		"topic=x keys=2 partition=3 row=1 offsets=\"100 to 109\"", "other_partition=7 other_row=2 other_offsets=\"110 to 119\"", "sample=\"all keys\"", "docs/operations.md",
	} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log does not say %s: %s", want, b.log)
		}
	}
	const why = "topic x: a key is in partition 3 (row 1 of its ledger, offsets 100 to 109) and in partition 7 (row 2, offsets 110 to 119): "
	if err := b.Why(); err == nil || !strings.HasPrefix(err.Error(), why) {
		t.Errorf("why: %v", err)
	}
}

// A failover may take rows back that were read, and others come in their place.
func TestRowsThatCameInPlaceOfOthersAreRead(t *testing.T) {
	b := newBench(t)
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	b.add(one, 0, 1, 2)
	b.add(other, 0, 50)
	b.add(other, 0, 51)
	b.audit()
	idemtest.Exec(t, b.db, `DELETE FROM idem_ledger WHERE stream = $1 AND seq > 0`, other)
	b.add(other, 0, 1)
	b.add(other, 0, 2)
	b.add(other, 0, 60)
	b.audit()
	b.alarms("two keys in rows that came in place of others", 2, 2)
}

// Of several copies each may be within the window of the one before only.
func TestThirdCopyIsComparedWithTheSecond(t *testing.T) {
	b := newBench(t)
	one, two, three := b.chain("x", 1, 0), b.chain("x", 1, 1), b.chain("x", 1, 2)
	b.add(one, 50*time.Minute, 1)
	b.audit()
	b.add(two, 10*time.Minute, 1)
	b.audit()
	b.alarms("the second copy", 1, 1)
	b.windows["x"] = 30 * time.Minute // for the first one it is over, as if time had passed
	b.add(three, 0, 1)
	b.audit()
	b.alarms("the third copy", 2, 2)
}

// The keys of one chain may stand in it again, when their window is over or an operator said
// so; keys of another topic, of one that was made again and of another consumer are others.
func TestKeysThatMayStandTwiceAreNoAlarm(t *testing.T) {
	b := newBench(t)
	one := b.chain("x", 1, 0)
	b.add(one, 0, 1, 2, 3)
	b.add(one, 0, 1)
	b.add(b.chain("x", 2, 1), 0, 1)
	b.add(b.chain("y", 3, 1), 0, 2)
	stream := b.chain("x", 1, 1)
	b.add(stream, 0, 3)
	idemtest.Exec(t, b.db, `UPDATE idem_stream SET consumer = 'b' WHERE stream = $1`, stream)
	b.audit()
	b.alarms("once per chain and topic", 0, 0)
	if b.Rows() != 4 {
		t.Errorf("%d rows were read", b.Rows())
	}
}

func TestKeyWhoseWindowIsOverIsNoAlarm(t *testing.T) {
	b := newBench(t)
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	b.add(one, window-time.Minute, 1)
	b.add(one, 2*time.Minute, 2)
	b.audit()                       // both are remembered
	b.add(other, -2*time.Minute, 1) // more than a window behind the first one
	b.add(other, 0, 2)
	b.audit()
	b.alarms("the second key alone", 1, 1)
	// What was over when a process began is not read.
	b.Audit = b.process()
	b.add(one, 2*window, 7)
	b.add(other, 2*window+time.Minute, 7)
	b.log.Reset()
	b.audit()
	b.alarms("of another process", 1, 1)
}

// Why and the count are for what is going on: a process that begins later tells the log only.
func TestOldBreachIsNoReasonToBeUnhealthy(t *testing.T) {
	b := newBench(t)
	b.windows["x"] = 24 * time.Hour
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	b.add(one, 3*time.Hour, 1)
	b.add(other, 61*time.Minute, 1)
	b.audit()
	b.alarms("an old one", 0, 1)
	if err := b.Why(); err != nil {
		t.Errorf("an old one: %v", err)
	}
	b.add(one, 3*time.Hour, 2)
	b.add(other, 58*time.Minute, 2)
	b.audit()
	if err := b.Why(); err == nil {
		t.Error("a newer one is not told")
	}
	b.alarms("a newer one", 1, 2)
}

// A process that has much to read may come to a breach hours later: no other one counts it.
func TestBreachOfThisProcessIsCountedHoweverLateItIsRead(t *testing.T) {
	b := newBench(t)
	b.windows["x"] = 24 * time.Hour
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	b.audit() // the process began
	const moment = 300 * time.Millisecond
	b.add(one, 3*time.Hour, 1)
	b.add(other, time.Hour-moment, 1)
	time.Sleep(2 * moment) // it is older than an hour now
	b.audit()
	b.alarms("read late", 1, 1)
	if err := b.Why(); err != nil {
		t.Errorf("read late: %v", err)
	}
}

func TestRowsAreReadOnceThoughTheyAreTrimmed(t *testing.T) {
	b := newBench(t)
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	const rows = 2*copies.Part + 7
	for n := range rows {
		b.add(one, 0, n)
	}
	idemtest.Exec(t, b.db, `UPDATE idem_ledger SET window_seq = 5 WHERE stream = $1 AND seq = $2`, one, rows)
	read := func(what string, want int64) {
		t.Helper()
		before := b.Rows()
		b.audit()
		if got := b.Rows() - before; got != want {
			t.Errorf("%s: %d rows were read, want %d", what, got, want)
		}
	}
	read("from the window on", rows-4)
	read("nothing new", 0)
	b.add(one, 0, rows)
	b.add(other, 0, 1, 4, rows)
	read("what is new", 2)
	b.alarms("but for a key before the window", 2, 2)
	// Rows are gone that were not read, and the window has moved over them.
	for n := range 4 {
		b.add(one, 0, rows+10+n)
	}
	idemtest.Exec(t, b.db, `UPDATE idem_ledger SET window_seq = seq WHERE stream = $1 AND seq = (SELECT max(seq) FROM idem_ledger WHERE stream = $1)`, one)
	idemtest.Exec(t, b.db, `DELETE FROM idem_ledger WHERE stream = $1 AND seq < (SELECT max(seq) FROM idem_ledger WHERE stream = $1)`, one)
	read("the last one", 1)
	// A failover took rows back, and others come in their place.
	idemtest.Exec(t, b.db, `DELETE FROM idem_ledger WHERE stream = $1 AND seq > 0`, other)
	read("nothing", 0)
	b.add(other, 0, 500_000)
	read("the row that came in place", 1)
}

// However many keys a window has, a sample of them is remembered; what it covers is found.
func TestMemoryOfTheAuditIsBounded(t *testing.T) {
	b := newBench(t)
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	const rows, each = 12, 10_000
	for n := range rows {
		b.add(one, 0, numbers(n*each, each)...)
	}
	b.audit()
	held, limit, share := b.Sample()
	if held > limit || share < 4 {
		t.Errorf("of %d keys %d are remembered, one in %d", rows*each, held, share)
	}
	for n := range rows { // the same keys, and as many others
		b.add(other, 0, append(numbers(n*each, each/2), numbers((rows+n)*each, each/2)...)...)
	}
	b.audit()
	held, _, thinner := b.Sample()
	if held > limit || held < limit/8 {
		t.Errorf("then %d keys are remembered, one in %d", held, thinner)
	}
	found, breaches := int(b.Found.Load()), rows*each/2
	if found < breaches/thinner*9/10 || found > breaches/share*11/10 {
		t.Errorf("%d of %d are found, of one key in %d to %d", found, breaches, share, thinner)
	}
	if !strings.Contains(b.log.String(), fmt.Sprintf("one key in %d", share)) {
		t.Errorf("the log does not say which keys are looked at: %s", b.log)
	}
	// When their windows are over, all of the few keys that come have room.
	b.windows["x"] = time.Millisecond
	for range 10 {
		b.audit()
	}
	if held, _, share := b.Sample(); held > 0 || share > 1 {
		t.Errorf("then %d keys are remembered, one in %d", held, share)
	}
	b.windows["x"] = window
	b.add(one, 0, 777_777)
	b.add(other, 0, 777_777)
	b.audit()
	if got := int(b.Found.Load()) - found; got != 1 {
		t.Errorf("then %d are found, want 1", got)
	}
}

// A producer that breaks its promise all the time fills no log.
func TestManyBreachesAreFewLines(t *testing.T) {
	b := newBench(t)
	one, other := b.chain("x", 1, 0), b.chain("x", 1, 1)
	for n := range 40 {
		b.add(one, 0, n)
		b.add(other, 0, n)
	}
	b.audit()
	b.alarms("all of them", 40, 11)
	if !strings.Contains(b.log.String(), "pairs_of_rows=30") {
		t.Errorf("the log does not say how many more there are: %s", b.log)
	}
}
