// Package copies holds topics with copies: same_partition to their word. A partition knows the
// keys of its own chain only: a copy in another partition takes effect again, and no statement
// notices. So the audit reads the keys of all chains of these topics, and says which are in
// two.
//
//	chain of partition 3   ... | 812: keys | 813: keys |            each row is read once,
//	chain of partition 7   ... |  90: keys |                        a few hundred at a time
//	                                 \
//	                                  sample: key -> chain, row     known from another chain:
//	                                                                alarm with both places
//
// The sample bounds the memory: when there are more keys than it may hold, it keeps half of them,
// a quarter and so on, by bits of the key that the process draws. Either both copies of an event
// are in it or neither is. So a producer that often breaks its promise is found, and a single
// breach only by chance.
//
// The audit changes nothing and locks nothing. What it knows is of its process and ends with
// it: a new one begins where the window does. It must not import any package of this module but
// backoff and ledger.
package copies

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
)

// Audit is that of one consumer. Run is called by one goroutine at a time, Why by any.
type Audit struct {
	Consumer string
	Windows  Windows
	Log      *slog.Logger
	Found    *atomic.Int64 // counts keys found in a second chain, but for those of earlier processes

	chains map[int32]*chain // by stream
	sample sample
	now    time.Time // of the database, when Run began
	since  time.Time // second copies count that were applied later
	rows   int64     // that were read
	said   int       // lines of the log, in this Run
	unsaid int       // pairs of rows without a line

	mu    sync.Mutex
	last  error // the newest breach
	until time.Time
}

// Windows are those of the topics with copies: same_partition.
type Windows struct {
	Topics []string // regular expressions for their names
	Of     func(topic string) time.Duration
}

// chain is one partition's.
type chain struct {
	stream    int32
	topic     string
	id        [16]byte // of the topic: one that was made again is another one
	partition int32
	window    time.Duration
	next      int64    // first row that was not read
	tail      int64    // row that was the last one
	token     [16]byte // of the tail
}

const (
	// part is how many rows one statement reads.
	part = 500
	// atMost is how long one Run goes on; the next one continues.
	atMost = 20 * time.Second
	// rest is how much longer than a statement the pause behind it is.
	rest = 9
)

const (
	// chainsSQL lists the chains of topics, where they end and where their windows begin. The
	// rows that were the last ones are $3, $4 and $5, and lost tells whether that row is another
	// one now, or gone from the end.
	chainsSQL = `
SELECT s.stream, s.topic, s.topic_id, s.partition, t.seq, t.token, t.window_seq, clock_timestamp(),
    coalesce(k.seq >= t.window_seq AND NOT EXISTS (SELECT FROM idem_ledger l WHERE l.stream = k.stream AND l.seq = k.seq AND l.token = k.token), false) AS lost
FROM idem_stream s
CROSS JOIN LATERAL (SELECT seq, token, window_seq FROM idem_ledger WHERE stream = s.stream ORDER BY seq DESC LIMIT 1) t
LEFT JOIN unnest($3::int[], $4::bigint[], $5::uuid[]) AS k (stream, seq, token) ON k.stream = s.stream
WHERE s.consumer = $1 AND s.topic ~ ANY($2) ORDER BY s.stream`

	// rowsSQL reads the rows $2 to $3 that hold keys of the last $4.
	rowsSQL = `
SELECT seq, prev, next, written_at, keys FROM idem_ledger
WHERE stream = $1 AND seq >= $2 AND seq <= $3 AND keys IS NOT NULL AND written_at > clock_timestamp() - $4::interval ORDER BY seq`
)

// Run reads what was appended since the last time, and tells of keys that are in two
// chains. It goes on for atMost, or until a statement ends that began before, and nine tenths
// of that are pauses.
func (a *Audit) Run(ctx context.Context, conn *pgx.Conn) error {
	if a == nil || len(a.Windows.Topics) == 0 {
		return nil
	}
	chains, err := a.list(ctx, conn)
	if err != nil {
		return fmt.Errorf("look for keys in two partitions: %w", err)
	}
	a.sample.tidy(a.over)
	a.said, a.unsaid = 0, 0
	defer a.sayRest()
	end := time.Now().Add(atMost)
	for left := unread(chains); len(left) > 0; left = unread(left) {
		for _, c := range left {
			began := time.Now()
			if err := a.read(ctx, conn, c); err != nil {
				return fmt.Errorf("look for keys in two partitions: %w", err)
			}
			if !backoff.Sleep(ctx, min(rest*time.Since(began), time.Until(end))) || time.Now().After(end) {
				return nil
			}
		}
	}
	return nil
}

// list brings the chains up to date. They come in another order each time: where Run ends
// early, none is always the last one.
func (a *Audit) list(ctx context.Context, conn *pgx.Conn) (all []*chain, err error) {
	if a.chains == nil {
		a.chains = map[int32]*chain{}
	}
	var streams []int32
	var tails []int64
	var tokens [][16]byte
	for _, c := range a.chains {
		streams, tails, tokens = append(streams, c.stream), append(tails, c.tail), append(tokens, c.token)
	}
	rows, err := conn.Query(ctx, chainsSQL, a.Consumer, a.Windows.Topics, streams, tails, tokens)
	if err != nil {
		return nil, err
	}
	var of chain
	var window int64
	var lost bool
	_, err = pgx.ForEachRow(rows, []any{&of.stream, &of.topic, &of.id, &of.partition, &of.tail, &of.token, &window, &a.now, &lost}, func() error {
		c := a.chains[of.stream]
		if c == nil {
			known := of
			c = &known
			a.chains[of.stream] = c
		}
		c.window, c.tail, c.token = a.Windows.Of(of.topic), of.tail, of.token
		if c.next = max(c.next, window); lost { // a failover took rows back, and others may have come
			c.next = window
		}
		all = append(all, c)
		return nil
	})
	if a.since.IsZero() && len(all) > 0 {
		a.since = a.now.Add(-fresh)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, err
}

// unread are the chains that go on behind what was read.
func unread(chains []*chain) []*chain {
	return slices.DeleteFunc(chains, func(c *chain) bool { return c.next > c.tail })
}

// read reads the next part of a chain. A row whose keys were compared is not read again.
func (a *Audit) read(ctx context.Context, conn *pgx.Conn, c *chain) error {
	last := min(c.tail, c.next+part-1)
	rows, err := conn.Query(ctx, rowsSQL, c.stream, c.next, last, c.window)
	if err != nil {
		return err
	}
	p := place{stream: c.stream}
	var written time.Time
	var keys pgtype.DriverBytes // of this row only
	_, err = pgx.ForEachRow(rows, []any{&p.seq, &p.first, &p.next, &written, &keys}, func() error {
		p.written = written.UnixMicro()
		a.compare(c, p, keys)
		a.rows++
		c.next = p.seq + 1
		return nil
	})
	if err == nil {
		c.next = last + 1
	}
	return err
}

// compare compares the keys of a row with those of the sample, and adds them.
func (a *Audit) compare(c *chain, p place, keys []byte) {
	met := map[place]int{}
	for ; len(keys) >= ledger.KeyBytes; keys = keys[ledger.KeyBytes:] {
		key := [16]byte(keys)
		if !a.sample.covers(key) {
			continue
		}
		before, known := a.sample.places[key]
		if known && a.breach(c, p, before) {
			met[before]++
		}
		if !known || before.written <= p.written {
			a.sample.put(key, p, a.over)
		}
	}
	others := make([]place, 0, len(met))
	for before := range met {
		others = append(others, before)
	}
	slices.SortFunc(others, func(x, y place) int { return cmp.Or(cmp.Compare(x.stream, y.stream), cmp.Compare(x.seq, y.seq)) })
	for _, before := range others {
		a.found(before, p, met[before])
	}
}

// breach reports whether a key that is in both rows had to be known: they are of two
// partitions of one topic, and the window of the first was not over.
func (a *Audit) breach(c *chain, p, before place) bool {
	other := a.chains[before.stream]
	apart := time.Duration(max(p.written-before.written, before.written-p.written)) * time.Microsecond
	return other != c && other.id == c.id && apart < c.window
}

// over reports whether the window of a place is.
func (a *Audit) over(p place) bool {
	return p.written <= a.now.Add(-a.chains[p.stream].window).UnixMicro()
}
