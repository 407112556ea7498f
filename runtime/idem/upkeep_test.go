package idem_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// tenWindows delivers new events, copies through either partition, and bad records until
// keys expired for ten windows.
type tenWindows struct {
	t      *testing.T
	db     *pgxpool.Pool
	c      *rig.Consumer
	window time.Duration
	next   [2]int64 // offset of each partition
	sent   []sent
	copies int // that were in their window for sure
}

// sent is an event that was durable at a time.
type sent struct {
	text string
	at   time.Time
}

func (s *tenWindows) partition(n int) idem.Partition {
	return idem.Partition{Topic: rig.Topic, Number: int32(n)}
}

func (s *tenWindows) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	for n := range s.next {
		a := idem.Assignment{Partition: s.partition(n), TopicID: idem.UUID{1}, Partitions: 2, High: 1 << 40, Committed: rig.CommittedAt(-1)}
		if _, err := sink.Assigned(ctx, a); err != nil {
			return err
		}
	}
	opened := map[string]bool{}                                    // generations by their tokens: tables are used again
	for round := 0; len(opened) <= 20 || s.copies < 100; round++ { // on a busy machine few copies are in their window
		opened[rig.Query(s.t, s.db, `SELECT token::text FROM idem_key_gen WHERE sealed_at IS NULL`)] = true
		if err := s.round(ctx, sink, round); err != nil {
			return err
		}
		time.Sleep(s.window / 40) // windows have to pass, whatever is delivered in them
	}
	return rig.ErrDone
}

// round delivers a batch to each partition, new events in the first one.
func (s *tenWindows) round(ctx context.Context, sink idem.Sink, round int) error {
	const fresh, known = 4, 3
	var texts, copies []string
	for range fresh {
		n := len(s.sent) + len(texts)
		texts = append(texts, fmt.Sprintf("k%d: put %d 1", n, n))
	}
	oldest := time.Now()
	for range known {
		if len(s.sent) < 40 {
			break
		}
		i := len(s.sent) - 1 - rand.IntN(40)
		copies, oldest = append(copies, s.sent[i].text), earlier(oldest, s.sent[i].at)
	}
	if err := s.deliver(ctx, sink, 0, append(append(copies, texts...), fmt.Sprintf("@h%d: put 1 1", round), "nonsense x"), oldest, len(copies)); err != nil {
		return err
	}
	for _, text := range texts {
		s.sent = append(s.sent, sent{text, time.Now()})
	}
	if err := s.deliver(ctx, sink, 1, append(copies, "put 1 1"), oldest, len(copies)); err != nil {
		return err
	}
	// A person deals with half of the letters; the others' time is over after a while.
	idemtest.Exec(s.t, s.db, `UPDATE idem_dead_letter SET state = CASE WHEN offs % 2 = 0 THEN 'r'::"char" ELSE 'd' END, expires_at = clock_timestamp() + interval '100 ms'
WHERE state = 'd' AND (expires_at IS NULL OR expires_at > clock_timestamp() + interval '10 s')`)
	const tables = `SELECT count(*)::text FROM pg_class WHERE relname ~ '^idem_keys_[0-9]+$'`
	if n, _ := strconv.Atoi(rig.Query(s.t, s.db, tables)); n > 7 { // five sealed, one open, one prepared
		s.t.Errorf("%d tables of keys", n)
	}
	return nil
}

func (s *tenWindows) deliver(ctx context.Context, sink idem.Sink, n int, texts []string, oldest time.Time, copies int) error {
	msgs := rig.Records(s.next[n], texts...)
	for i := range msgs {
		msgs[i].Partition = int32(n)
	}
	s.next[n] += int64(len(msgs))
	before, began := s.c.Stats().Resent, time.Now()
	if err := sink.Deliver(ctx, s.partition(n), msgs); err != nil {
		return err
	}
	if got := s.c.Stats().Resent - before; time.Since(oldest) < s.window {
		s.copies += copies
		rig.Want(s.t, "copies in their window that were recognized", got, int64(copies))
	}
	sink.End(s.partition(n), s.next[n], began)
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Over ten windows with copies, dead letters and generations that come and go, no table of
// the runtime grows without bound, and every copy within the window is recognized.
func TestTenWindowsLeaveEveryTableBounded(t *testing.T) {
	rig.Lengthy(t)
	const window = 400 * time.Millisecond
	db := rig.Database(t)
	c := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Window, s.Topics[0].Chain = window, window }}.Consumer(t, db)
	c.UpkeepEvery(20 * time.Millisecond)
	c.TransactionsEnd(window / 8)
	s := &tenWindows{t: t, db: db, c: c, window: window}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := c.Run(ctx, s); err != rig.ErrDone {
		t.Fatal(err)
	}
	if err := c.Upkeep(t.Context()); err != nil && !strings.Contains(err.Error(), "keys are kept beyond their window") { // nothing is read any more
		t.Fatal(err)
	}
	stats := c.Stats()
	for what, sql := range map[string]string{
		// Half of ten windows is more than the window and a rotation, whatever the machine.
		"keys":              fmt.Sprintf(`SELECT count(*) < %d FROM idem_keys`, stats.Applied/2),
		"ledger":            fmt.Sprintf(`SELECT count(*) < %d FROM idem_ledger`, stats.Batches/2),
		"dead letters":      fmt.Sprintf(`SELECT count(*) < %d FROM idem_dead_letter`, stats.Dead/2),
		"generations":       `SELECT count(*) <= 7 FROM idem_key_gen`, // as above
		"streams":           `SELECT count(*) = 2 FROM idem_stream`,
		"assertions":        `SELECT count(*) = 0 FROM idem_assert`,
		"rows missing":      `SELECT count(*) = 0 FROM idem_step_refused`,
		"closed in silence": fmt.Sprintf(`SELECT %d > 0`, stats.Expired),
	} {
		if rig.Query(t, db, `SELECT (`+sql+`)::text`) != "true" {
			t.Errorf("%s: not %s", what, sql)
		}
	}
	t.Logf("%+v", stats)
}
