package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A healthy system with slow handlers does everything once, although all its calls together
// take longer than a transaction may.
func TestSlowHandlersAreCalledOnce(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	calls := map[int32]int{}
	c := rig.Service{Edit: func(s *wire.Service) { s.Limits.BatchTimeout = rig.SlowBatch }, Handle: func(_ context.Context, _ idem.Tx, row int32) error {
		calls[row]++
		time.Sleep(100 * time.Millisecond)
		return nil
	}}.Consumer(t, db)
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("k%d: call %d", i, i))
	}
	sink := rig.Drive(t, c)
	rig.Assign(t, sink, 0)
	rig.Deliver(t, sink, rig.Records(0, texts...))
	for i := range int32(40) {
		rig.Want(t, fmt.Sprintf("calls of record %d", i), calls[i], 1)
	}
	s := c.Stats()
	rig.Want(t, "applied", s.Applied, 40)
	rig.Want(t, "tried again", s.Waits, 0)
	if s.Batches < 3 {
		t.Errorf("%d transactions took more than 4 s, with a limit of %v", s.Batches, rig.SlowBatch)
	}
}

// What a transaction leaves to the next one it says nothing of: position, epoch, keys, dead
// letters, counts and what the owner remembers end with the record before the call.
func TestTransactionThatEndsEarlySaysNothingOfTheRest(t *testing.T) {
	for name, key := range map[string]string{"keys anywhere": "", "keys in the chain": "@"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var slow rig.SlowCalls
			c := slow.Service(func(s *wire.Service) {
				if key == "@" {
					s.Topics[0].Chain = time.Hour
				}
			}).Consumer(t, db)
			w := rig.Own(t, c)
			msgs := rig.Records(0, key+"p: put 20 1", key+"a: call 1", key+"a: call 1", "nonsense x", key+"q: put 21 1",
				key+"b: call 11", key+"r: put 22 1", key+"b: put 99 1", "nonsense x", key+"q: put 21 1")
			for i := range msgs {
				msgs[i].LeaderEpoch = int32(i)
			}
			rig.Want(t, "result", rig.Apply(t, w, msgs), idem.Result{Applied: 5, Duplicates: 2, Conflicts: 1, Dead: 2})
			s := c.Stats()
			rig.Want(t, "counted", fmt.Sprint(s.Applied, s.Resent, s.Conflicts, s.Dead, s.Redelivered, s.Batches), "5 2 1 2 0 2")
			rig.Want(t, "calls", fmt.Sprint(slow.Calls), "map[1:1 11:1]")
			rig.Want(t, "rows", rig.Table(t, db), "1=1 11=1 20=1 21=1 22=1")
			rig.Want(t, "the chain", rig.Query(t, db, `SELECT string_agg(kind::text || prev || '-' || next || ' ' || epoch, ', ' ORDER BY seq) FROM idem_ledger`), "g0-0 -1, f0-0 -1, b0-5 4, b5-10 9")
			rig.Want(t, "letters of each transaction", rig.Query(t, db, `SELECT string_agg(seq || ':' || offs, ' ' ORDER BY offs) FROM idem_dead_letter`), "2:3 3:7 3:8")
			counted := `SELECT string_agg(seq || ':' || n, ' ' ORDER BY seq) FROM (SELECT seq, count(*) AS n FROM idem_keys GROUP BY seq) AS k`
			if key == "@" {
				counted = `SELECT string_agg(seq || ':' || length(keys) / 20, ' ' ORDER BY seq) FROM idem_ledger WHERE keys IS NOT NULL`
			}
			rig.Want(t, "keys of each transaction", rig.Query(t, db, counted), "2:3 3:2")
			copies := rig.Apply(t, w, rig.Records(10, key+"p: put 20 1", key+"a: call 1", key+"q: put 21 1", key+"b: call 11", key+"r: put 22 1"))
			rig.Want(t, "copies", copies, idem.Result{Duplicates: 5})
			copies = rig.Apply(t, rig.Own(t, c), rig.Records(15, key+"p: put 20 1", key+"a: call 1", key+"q: put 21 1", key+"b: call 11", key+"r: put 22 1"))
			rig.Want(t, "copies at the next owner", copies, idem.Result{Duplicates: 5})
		})
	}
}

// atSecond runs f before the second transaction is sent.
func atSecond(t *testing.T, f func()) context.Context {
	n := 0
	return fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeSend {
			if n++; n == 2 {
				f()
			}
		}
		return nil
	})
}

// Keys of what is left are free: a copy on another partition may be applied first.
func TestKeysOfTheRestAreFree(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	var slow rig.SlowCalls
	w := rig.Own(t, slow.Service().Consumer(t, db))
	other, err := rig.Service{}.Consumer(t, db).Own(t.Context(), rig.Topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.Apply(atSecond(t, func() {
		msgs := rig.Records(0, "b: put 11 0", "c: put 12 0")
		for i := range msgs {
			msgs[i].Partition = 1
		}
		rig.Want(t, "the copies on the other partition", rig.Apply(t, other, msgs), idem.Result{Applied: 2})
	}), rig.Records(0, "a: call 1", "b: call 11", "c: put 12 0"))
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "result", res, idem.Result{Applied: 1, Duplicates: 2})
	// A call may precede the claim of its key, and is then rolled back.
	rig.Want(t, "calls", fmt.Sprint(slow.Calls), "map[1:1 11:1]")
}

// A lost reply of a transaction that ended early is settled with its own end, and one that
// never came to COMMIT is done again, whole.
func TestLostReplyOfATransactionThatEndedEarly(t *testing.T) {
	batch := []string{"a: call 1", "b: call 11", "@c: call 12"}
	for name, test := range map[string]struct{ step, calls, chain string }{
		"committed":     {fault.Reply, "map[1:1 11:1 12:1]", "g0 f0 b1 b3 b6"},
		"not committed": {fault.BeforeCommit, "map[1:2 11:1 12:1]", "g0 f0 b1 b3 b6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			var slow rig.SlowCalls
			c := slow.Service(func(s *wire.Service) { s.Topics[0].Chain = time.Hour }).Consumer(t, db)
			w := rig.Own(t, c)
			lost := errors.New("lost")
			first := true
			_, err := w.Apply(fault.With(t.Context(), func(step string) error {
				if step != test.step || !first {
					return nil
				}
				first = false
				return lost
			}), rig.Records(0, batch...))
			if !errors.Is(err, lost) {
				t.Fatal(err)
			}
			rig.Apply(t, w, rig.Records(0, batch...))
			rig.Want(t, "calls", fmt.Sprint(slow.Calls), test.calls)
			rig.Want(t, "applied", c.Stats().Applied, 3)
			rig.Want(t, "copies", rig.Apply(t, w, rig.Records(3, batch...)), idem.Result{Duplicates: 3})
			rig.Want(t, "the chain", rig.Query(t, db, positionSQL), test.chain)
		})
	}
}

// A log line and Health name what was over, and for which event: people must know which
// limit to raise, or which handler to mend.
func TestTimeOutNamesLimitEventAndHandler(t *testing.T) {
	const short = time.Second
	sleep := func(ctx context.Context, tx idem.Tx, _ int32) error {
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return err
	}
	for name, test := range map[string]struct {
		edit   func(*wire.Limits)
		record string
		names  []string
	}{
		"batch_timeout, of a statement":     {func(l *wire.Limits) { l.BatchTimeout = short }, "k: put 9 9", []string{"limits.batch_timeout (1s) was exceeded", "event Test, offset 0"}},
		"batch_timeout, of a handler":       {func(l *wire.Limits) { l.BatchTimeout = short }, "call 9", []string{"limits.batch_timeout (1s) was exceeded", "handler Test, offset 0"}},
		"event_timeout":                     {func(l *wire.Limits) { l.EventTimeout = short }, "call 9", []string{"the time of a call (1s) was exceeded", "handler Test, offset 0"}},
		"statement_timeout":                 {func(l *wire.Limits) { l.StatementTimeout = short }, "k: put 9 9", []string{"statement_timeout (1s) was exceeded", "event Test, offset 0"}},
		"statement_timeout, of a handler's": {func(l *wire.Limits) { l.StatementTimeout = short }, "call 9", []string{"statement_timeout (1s) was exceeded", "handler Test, offset 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			rig.Trigger(t, db, `PERFORM pg_sleep(60)`)
			log, logged := rig.Logged()
			c := rig.Service{Handle: sleep, Policy: wire.FailurePolicy{Retries: 1, InitialBackoff: time.Hour, MaxBackoff: time.Hour}, Options: []idem.Option{logged}, Edit: func(s *wire.Service) { test.edit(&s.Limits) }}.Consumer(t, db)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			ctx, cancel := context.WithCancel(t.Context())
			delivered := make(chan error, 1)
			go func() { delivered <- sink.Deliver(ctx, rig.First, rig.Records(0, test.record)) }()
			for _, text := range test.names {
				rig.Within(t, "Health names "+text, func() bool { err := c.Health().Err(); return err != nil && strings.Contains(err.Error(), text) })
				rig.Within(t, "the log names "+text, func() bool { return strings.Contains(log.String(), text) })
			}
			if cancel(); <-delivered == nil {
				t.Error("it was applied")
			}
		})
	}
}

// Others may change a table while a handler is slow, and another connection may see that at
// once. The transaction goes on where it was: nothing is left out and nothing is done twice.
func TestTableThatChangesUnderASlowHandlerLosesNothing(t *testing.T) {
	for name, first := range map[string]bool{"a trigger goes": true, "a trigger comes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check; CREATE TABLE effects (row int)`)
			change := func(on bool) {
				if on {
					rig.Trigger(t, db, `NULL`)
				} else {
					idemtest.Exec(t, db, `DROP TRIGGER judge ON t`)
				}
			}
			if first {
				change(true)
			}
			calls := map[int32]int{}
			var c *rig.Consumer
			c = rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) {
				s.Limits.BatchTimeout = rig.SlowBatch
				s.Tables, s.Topics[0].Writes = []wire.Table{{Name: "t", Unique: [][]string{{"id"}}}}, []string{"t"}
			}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls[row]++
				if row == 1 {
					if _, err := c.Own(context.Background(), rig.Topic, 1, 0); err != nil { // reads the catalog
						return err
					}
					time.Sleep(rig.SlowBatch/3 + 50*time.Millisecond)
				}
				_, err := tx.Exec(ctx, `INSERT INTO effects VALUES ($1)`, row)
				return err
			}}.Consumer(t, db)
			w := rig.Own(t, c)
			change(!first)
			rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "a: put 20 1", "b: put 21 1", "c: put 22 1", "d: call 1", "e: put 23 1", "f: call 11")), idem.Result{Applied: 6})
			rig.Want(t, "rows", rig.Table(t, db), "20=1 21=1 22=1 23=1")
			rig.Want(t, "effects", rig.Query(t, db, `SELECT string_agg(row::text, ' ') FROM effects`), "1 11")
			rig.Want(t, "calls", fmt.Sprint(calls), "map[1:1 11:1]")
		})
	}
}
