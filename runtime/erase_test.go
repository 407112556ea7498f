package idem_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/stream"
	"github.com/idemgen/idemgen/runtime/wire"
)

// kept are the letters as "offset state", in order, with a star if the record is kept and the
// offset of the event that erased it if one did.
func kept(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return query(t, db, `SELECT coalesce(string_agg(offs || ' ' || state::text || CASE WHEN record IS NULL THEN '' ELSE '*' END
		|| coalesce(' ' || substring(erased_by FROM '^test.v1 0:([0-9]+)$'), ''), ', ' ORDER BY stream, offs, seq), '') FROM idem_dead_letter`)
}

// erasing is a log of two record keys. The event at offset 4 erases key a.
func erasing() []idem.Message {
	return keyed(0, "a/nonsense x", "b/nonsense x", "a/need 77 1", "a/put 1 1", "a/erase 1 9", "a/nonsense x", "a/put 2 2", "b/put 3 3")
}

const erasedLog = "0 d 4, 1 d*, 2 d 4, 5 d*"

// An event with erase_traces erases the letters of its record key before it, and no others, in
// batches of any size, with statements alone and behind a handler.
func TestEventErasesTheLettersBeforeIt(t *testing.T) {
	t.Parallel()
	for size := 1; size <= len(erasing()); size++ {
		t.Run(fmt.Sprint("batches of ", size), func(t *testing.T) {
			db := database(t)
			w := own(t, service{policy: impatient, erases: true}.consumer(t, db))
			for rest := erasing(); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				apply(t, w, rest[:min(size, len(rest))])
			}
			want(t, "letters", kept(t, db), erasedLog)
			want(t, "rows", table(t, db), "1=9 2=2 3=3")
			want(t, "reasons", query(t, db, `SELECT string_agg(reason, ', ' ORDER BY offs) FROM idem_dead_letter WHERE erased_by IS NOT NULL`),
				"decode: erased by test.v1 0:4, database: erased by test.v1 0:4")
			apply(t, w, keyed(8, "a/nonsense x", "b/put 3 4"))
			want(t, "later letters", kept(t, db), erasedLog+", 8 d*")
		})
	}
	t.Run("with a handler", func(t *testing.T) {
		db := database(t)
		s := service{policy: impatient, erases: true, handle: func(context.Context, idem.Tx, int32) error { return nil }}
		apply(t, own(t, s.consumer(t, db)), append(erasing(), keyed(8, "b/call 1")...))
		want(t, "letters", kept(t, db), erasedLog)
	})
}

// Whatever is cut off at any step: traces are there until the event's row is, and gone with it.
func TestErasingSurvivesACrashAtEachStep(t *testing.T) {
	lengthy(t)
	for _, step := range []string{fault.BeforeSend, fault.BeforeClaim, fault.AfterAppend, fault.BeforeCommit, fault.Reply} {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprint(step, " ", same), func(t *testing.T) {
				db := database(t)
				s := service{policy: impatient, erases: true, handle: func(context.Context, idem.Tx, int32) error { return nil }}
				w := own(t, s.consumer(t, db))
				log := append(erasing(), keyed(8, "b/call 1")...)
				apply(t, w, log[:4])
				_, err := w.Apply(fault.With(t.Context(), lose(step)), log[4:])
				if err == nil {
					t.Fatal("nothing was cut off")
				}
				if step != fault.Reply {
					want(t, "letters before", kept(t, db), "0 d*, 1 d*, 2 d*")
				}
				if !same {
					w = own(t, s.consumer(t, db))
				}
				for range 2 { // the first may find its doubts only
					if _, err := w.Apply(t.Context(), log[4:]); err == nil {
						break
					}
				}
				want(t, "letters", kept(t, db), erasedLog)
				want(t, "rows", table(t, db), "1=9 2=2 3=3")
			})
		}
	}
}

// An event that is refused erases nothing.
func TestRefusedEventErasesNothing(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{policy: impatient, erases: true}.consumer(t, db))
	apply(t, w, keyed(0, "a/nonsense x", "a/erase 1 1000", "a/put 2 2"))
	want(t, "letters", kept(t, db), "0 d*, 1 d*")
}

// An event that erases waits for no letter of its record key. What waits there is discarded, and
// later records go on, or wait for later letters only.
func TestErasingEventEndsTheWait(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"the same owner", "another owner"} {
		t.Run(next, func(t *testing.T) {
			db := database(t)
			s := service{policy: parking, erases: true}
			w := own(t, s.consumer(t, db))
			apply(t, w, keyed(0, "a/need 77 1", "b/need 77 1", "a/put 1 1"))
			want(t, "result", apply(t, w, keyed(3, "a/put 1 3", "a/erase 1 9", "a/put 2 5")), idem.Result{Waiting: 1, Applied: 2})
			want(t, "letters", kept(t, db), "0 d 4, 1 d*, 2 x 4, 3 x 4")
			want(t, "by", query(t, db, `SELECT DISTINCT resolved_by FROM idem_dead_letter WHERE state = 'x' AND resolved_seq IS NOT NULL`), "erased by test.v1 0:4")
			if next == "another owner" {
				w = own(t, s.consumer(t, db))
			}
			want(t, "a is free, b waits", apply(t, w, keyed(6, "a/put 3 6", "b/put 3 7")), idem.Result{Applied: 1, Waiting: 1})
			want(t, "a waits anew", apply(t, w, keyed(8, "a/need 77 1", "a/put 4 9", "a/erase 1 10", "a/need 77 11", "a/put 4 12")),
				idem.Result{Dead: 2, Waiting: 2, Applied: 1})
			want(t, "letters", kept(t, db), "0 d 4, 1 d*, 2 x 4, 3 x 4, 7 w*, 8 d 10, 9 x 10, 11 d*, 12 w*")
			want(t, "behind", query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = 12`), "parked: waits behind offset 11, a dead letter of its record key")
			want(t, "rows", table(t, db), "1=10 2=5 3=6")
			if next == "another owner" {
				w = own(t, s.consumer(t, db))
			}
			want(t, "still", apply(t, w, keyed(13, "a/put 4 13")), idem.Result{Waiting: 1})
			want(t, "behind", query(t, db, `SELECT reason FROM idem_dead_letter WHERE offs = 13`), "parked: waits behind offset 11, a dead letter of its record key")
		})
	}
}

// Nobody can have an erased record applied: the owner answers who asked before, and the command
// refuses who asks later. It can be discarded.
func TestErasedLetterIsDiscardedOnly(t *testing.T) {
	t.Parallel()
	db := database(t)
	w := own(t, service{policy: impatient, erases: true}.consumer(t, db))
	apply(t, w, keyed(0, "a/need 77 1"))
	apply(t, w, keyed(1, "b/put 77 1"))
	ask(t, db, "replay", 0)
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET answer = 'was refused: 77'`)
	apply(t, w, keyed(2, "a/erase 1 1"))
	want(t, "answer", query(t, db, `SELECT answer FROM idem_dead_letter`), "erased by test.v1 0:2")
	apply(t, w, nil)
	want(t, "letters", kept(t, db), "0 d 2")
	const refused = "its record was erased by test.v1 0:2: it can be discarded only"
	want(t, "answer", query(t, db, `SELECT answer FROM idem_dead_letter`), refused)
	want(t, "rows", table(t, db), "1=1 77=1")
	found, err := stream.FindLetters(t.Context(), db, []stream.Place{{Consumer: "test", Topic: topic, Offset: 0}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Ask(t.Context(), db, found[0], "replay", stream.By{Operator: "ann", Reason: "mended"})
	wantText(t, err, refused)
	ask(t, db, "discard", 0)
	apply(t, w, nil)
	want(t, "letters", kept(t, db), "0 x 2")
}

// The replay of an event that erases, too, takes what was before it only. Where both are asked
// for, what was before it is applied first: the order is that of the log.
func TestReplayErases(t *testing.T) {
	t.Parallel()
	for _, both := range []bool{false, true} {
		db := database(t)
		w := own(t, service{policy: impatient, erases: true}.consumer(t, db))
		apply(t, w, keyed(0, "a/need 77 1", "a/erase 1 1000", "a/need 77 3"))
		idemtest.Exec(t, db, `ALTER TABLE t DROP CONSTRAINT t_v_check`)
		apply(t, w, keyed(3, "b/put 77 0"))
		if !both {
			ask(t, db, "replay", 1)
			apply(t, w, nil)
			want(t, "letters", kept(t, db), "0 d 1, 1 r 1, 2 d*")
			want(t, "rows", table(t, db), "1=1000 77=0")
			continue
		}
		ask(t, db, "replay", 1)
		ask(t, db, "replay", 0)
		apply(t, w, nil)
		want(t, "letters", kept(t, db), "0 r 1, 1 r 1, 2 d*")
		want(t, "rows", table(t, db), "1=1000 77=1")
	}
}

// Letters of other partitions, and of topics with the same record key, lose their records, too;
// their owners discard what waits, and go on with what came later. Other topics and consumers keep
// theirs.
func TestErasingReachesOtherPartitions(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := service{policy: parking, erases: true, edit: func(s *wire.Service) {
		for _, name := range []string{"test.v2", "test.v3"} {
			other := s.Topics[0]
			other.Name, other.Erases = name, nil
			s.Topics = append(s.Topics, other)
		}
		s.Topics[0].Erases = []string{topic, "test.v2"}
	}}
	c := s.consumer(t, db)
	writers := map[string]*idem.Writer{}
	for _, name := range []string{"test.v2", "test.v3"} {
		w, err := c.Own(t.Context(), name, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := keyed(0, "a/need 77 1", "a/put 5 5")
		for i := range msgs {
			msgs[i].Topic = name
		}
		apply(t, w, msgs)
		writers[name] = w
	}
	idemtest.Exec(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition) SELECT 'other', topic, topic_id, partition FROM idem_stream WHERE topic = 'test.v2';
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, order_key, record) SELECT (SELECT stream FROM idem_stream WHERE consumer = 'other'), offs, 1, 'd', 'x', order_key, record FROM idem_dead_letter LIMIT 1`)
	apply(t, own(t, c), keyed(0, "a/erase 1 1"))
	want(t, "letters", kept(t, db), "0 d 0, 1 w 0, 0 d*, 1 w*, 0 d*")
	want(t, "it waits still", apply(t, writers["test.v2"], of("test.v2", keyed(2, "a/put 5 6"))), idem.Result{Waiting: 1})
	apply(t, writers["test.v2"], nil)
	want(t, "letters", kept(t, db), "0 x 0, 1 x 0, 2 r*, 0 d*, 1 w*, 0 d*")
	want(t, "rows", table(t, db), "1=1 5=6")
	want(t, "by", query(t, db, `SELECT DISTINCT resolved_by FROM idem_dead_letter WHERE state = 'x' AND offs = 0`), "the event that erased it, test.v1 0:0")
}

// of are messages of another topic.
func of(name string, msgs []idem.Message) []idem.Message {
	for i := range msgs {
		msgs[i].Topic = name
	}
	return msgs
}

// Results and errors of effects go with the record key, up to the event that erases, also within
// one batch. What was done is not called again: a copy that nothing else knows is a dead letter.
func TestErasingTakesResultsOfEffects(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(terms)
	s.erases = true
	w := own(t, s.consumer(t, db))
	apply(t, w, keyed(0, "a/k: effect 1", "b/l: effect 2"))
	apply(t, w, keyed(2, "a/m: effect 3", "a/erase 5 5", "a/n: effect 4"))
	const results = `SELECT string_agg(offs || ' ' || state::text || CASE WHEN result IS NULL THEN '' ELSE '*' END || coalesce(' ' || nullif(error, ''), ''), ', ' ORDER BY offs) FROM idem_lease`
	want(t, "leases", query(t, db, results), "0 e erased by test.v1 0:3, 1 c*, 2 e erased by test.v1 0:3, 4 c*")
	idemtest.Exec(t, db, `DELETE FROM idem_keys`)
	w = own(t, s.consumer(t, db))
	want(t, "a copy", apply(t, w, keyed(5, "a/k: effect 1")), idem.Result{Dead: 1})
	want(t, "reason", query(t, db, `SELECT reason FROM idem_dead_letter`),
		"effect: Test: it was done before, and its result was erased by test.v1 0:3: it is not called again")
	want(t, "calls", p.count(1), 1)
}

// A call that was cut off, and whose event became a dead letter, may end later: its result is
// recorded nowhere once the event that erases is passed, and nothing is called again.
func TestErasingTakesTheLeaseOfALateHolder(t *testing.T) {
	t.Parallel()
	db := database(t)
	s := (&provider{}).service(terms)
	s.erases = true
	w := own(t, s.consumer(t, db))
	apply(t, w, keyed(0, "a/k: effect 1"))
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'p', result = NULL, expires_at = clock_timestamp() + interval '1 hour'`)
	copied := func(offset, state, result string) {
		idemtest.Exec(t, db, `INSERT INTO idem_lease (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, changed_at, forget_at, result, error, stream, offs, order_key) SELECT consumer, gen_random_uuid(), def, fp, '`+state+`', owner, fence, attempts, term, interrupts, keep, expires_at, changed_at, forget_at, `+result+`, NULL, stream, `+offset+`, order_key FROM idem_lease WHERE offs = 0`)
	}
	copied("7", "d", "'y'") // behind the event: of records that are not passed yet
	copied("8", "p", "NULL")
	apply(t, w, keyed(1, "a/erase 5 5"))
	want(t, "leases", query(t, db, `SELECT string_agg(offs || ' ' || state::text || coalesce(' ' || convert_from(result, 'UTF8'), '') || coalesce(' ' || error, ''), ', ' ORDER BY offs) FROM idem_lease`),
		"0 i erased by test.v1 0:1, 7 d y, 8 p")
	if t.Failed() {
		return // the copy would wait for who holds the lease
	}
	idemtest.Exec(t, db, `DELETE FROM idem_keys`)
	want(t, "a copy", apply(t, own(t, s.consumer(t, db)), keyed(2, "a/k: effect 1")), idem.Result{Dead: 1})
}

// What an event became a dead letter of behind its effect is erased in every partition: nothing
// else would ever take its result.
func TestErasingTakesResultsOfDeadLetters(t *testing.T) {
	t.Parallel()
	db := database(t)
	p := provider{call: func(context.Context, int32, int) error { return idem.Permanent(errors.New("no")) }}
	s := p.service(terms)
	s.erases = true
	c := s.consumer(t, db)
	w, err := c.Own(t.Context(), topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	msgs := keyed(0, "a/k: effect 1", "a/l: effect 2")
	for i := range msgs {
		msgs[i].Partition = 1
	}
	apply(t, w, msgs)
	idemtest.Exec(t, db, `UPDATE idem_lease SET state = 'd', result = 'x', error = NULL WHERE offs = 1;
DELETE FROM idem_dead_letter WHERE offs = 1;
INSERT INTO idem_lease (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, changed_at, forget_at, result, error, stream, offs, order_key) SELECT consumer, gen_random_uuid(), def, fp, 'd', owner, fence, attempts, term, interrupts, keep, expires_at, changed_at, forget_at, 'y', NULL, stream, 0, order_key FROM idem_lease WHERE offs = 1`)
	apply(t, own(t, c), keyed(0, "a/erase 5 5"))
	want(t, "leases", query(t, db, `SELECT string_agg(offs || ' ' || state::text || coalesce(' ' || convert_from(result, 'UTF8'), '') || coalesce(' ' || error, ''), ', ' ORDER BY offs, state) FROM idem_lease`),
		"0 e erased by test.v1 0:0, 0 f erased by test.v1 0:0, 1 d x")
}

// A copy that finds its effect erased behind the copy that took effect in another partition
// meanwhile is a duplicate, and no dead letter.
func TestCopyOfAnErasedEffectIsADuplicate(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	s := p.service(terms)
	s.erases = true
	c := s.consumer(t, db)
	other, err := c.Own(t.Context(), topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	meanwhile := sync.OnceFunc(func() { apply(t, other, inPartition(1, keyed(0, "a/k: effect 1", "a/erase 5 5"))) })
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeLease {
			meanwhile()
		}
		return nil
	})
	res, err := own(t, c).Apply(ctx, keyed(0, "a/k: effect 1", "a/m: effect 2"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "a copy", res, idem.Result{Applied: 1, Duplicates: 1})
	want(t, "letters", kept(t, db), "")
	want(t, "rows, calls", fmt.Sprint(table(t, db), p.count(1)), "1=1 2=2 5=51")
}

// inPartition are messages of another partition.
func inPartition(n int32, msgs []idem.Message) []idem.Message {
	for i := range msgs {
		msgs[i].Partition = n
	}
	return msgs
}

// An effect that a dead letter's replay makes in another partition, while its record key is erased
// or once it is, leaves neither a result nor a row, and is not made again.
func TestReplayThatIsErasedKeepsNoResult(t *testing.T) {
	t.Parallel()
	for begins, state := range map[string]string{fault.BeforeLease: "e", fault.AfterLease: "i"} {
		t.Run(begins, func(t *testing.T) {
			db := database(t)
			p := provider{call: func(context.Context, int32, int) error { return idem.Interrupted(errors.New("cut")) }}
			s := p.service(interrupts)
			s.erases = true
			c := s.consumer(t, db)
			other, err := c.Own(t.Context(), topic, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			apply(t, other, inPartition(1, keyed(0, "a/k: effect 1")))
			p.call = nil
			idemtest.Exec(t, db, `UPDATE idem_dead_letter SET asked = 'r', asked_at = clock_timestamp(), asked_by = 'ann', asked_number = nextval('idem_fence')`)
			eraser := own(t, c)
			erase := sync.OnceFunc(func() { apply(t, eraser, keyed(0, "a/erase 5 5")) })
			ctx := fault.With(t.Context(), func(step string) error {
				if step == begins {
					erase()
				}
				return nil
			})
			for end := time.Now().Add(20 * time.Second); query(t, db, `SELECT count(*)::text FROM idem_dead_letter WHERE asked IS NOT NULL`) != "0" && time.Now().Before(end); {
				if _, err := other.Apply(ctx, nil); err != nil {
					t.Fatal(err)
				}
			}
			want(t, "letters", kept(t, db), "0 d 0")
			want(t, "results", query(t, db, `SELECT coalesce(string_agg(offs || ' ' || state::text || ' ' || error || coalesce(' ' || convert_from(result, 'UTF8'), ''), ', '), '') FROM idem_lease`), "0 "+state+" erased by test.v1 0:0")
			want(t, "rows", table(t, db), "5=5")
			want(t, "calls", p.count(1), 2)
		})
	}
}
