package keys_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

func ownChain(t testing.TB, db *pgxpool.Pool) *rig.Writer {
	t.Helper()
	return rig.Own(t, rig.InChain(time.Hour).Consumer(t, db))
}

func TestChainRemembersKeys(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := ownChain(t, db)
	msgs := rig.Records(0, "@a: put 1 10", "@b: put 2 20", "@a: put 1 10", "@a: put 1 99")
	rig.Want(t, "first", rig.Apply(t, w, msgs), idem.Result{Applied: 2, Duplicates: 1, Conflicts: 1})
	again := func(from int64) []idem.Message {
		return rig.Records(from, "@b: put 2 20", "@a: put 1 98", "@a: put 1 10")
	}
	rig.Want(t, "sent again", rig.Apply(t, w, again(4)), idem.Result{Duplicates: 2, Conflicts: 1})
	rig.Want(t, "to the next owner", rig.Apply(t, ownChain(t, db), again(7)), idem.Result{Duplicates: 2, Conflicts: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=10 2=20")
	rig.Want(t, "keys", rig.Query(t, db, `SELECT string_agg(coalesce(octet_length(keys)::text, '-'), ' ' ORDER BY seq) FROM idem_ledger`), "- - 40 - - -")
	rig.Want(t, "keys elsewhere", rig.Query(t, db, `SELECT count(*)::text FROM idem_keys`), "0")
}

// One topic may have keys of both kinds, and each is found where it is.
func TestKeysOfBothKinds(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	both := rig.Service{Edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }}
	w := rig.Own(t, both.Consumer(t, db))
	rig.Want(t, "first", rig.Apply(t, w, rig.Records(0, "a: put 1 1", "@b: put 2 2")), idem.Result{Applied: 2})
	rig.Want(t, "again", rig.Apply(t, w, rig.Records(2, "a: put 1 1", "@b: put 2 2", "c: put 3 3")), idem.Result{Applied: 1, Duplicates: 2})
	rig.Want(t, "keys", rig.Query(t, db, `SELECT (SELECT count(*) FROM idem_keys) || ' ' || (SELECT sum(octet_length(keys)) FROM idem_ledger)`), "2 20")
}

// Fingerprints of two definitions cannot be compared: a copy is a duplicate whatever it holds.
func TestDefinitionOfAKeyOfTheChain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Apply(t, ownChain(t, db), rig.Records(0, "@a: put 1 10"))
	s := rig.InChain(time.Hour)
	s.Content = 2
	w := rig.Own(t, s.Consumer(t, db))
	rig.Want(t, "old key", rig.Apply(t, w, rig.Records(1, "@a: put 1 11", "@b: put 2 20")), idem.Result{Applied: 1, Duplicates: 1})
	rig.Want(t, "new key", rig.Apply(t, w, rig.Records(3, "@b: put 2 21")), idem.Result{Conflicts: 1})
}

// Bug: keys enter the memory when they are sent. A batch that fails is sent again
// in parts, and none of its records may then pass for a copy of itself.
func TestKeysEnterMemoryWithTheirAcknowledgement(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := ownChain(t, db)
	msgs := rig.Records(0, "@a: put 1 1", "@b: put 2 5000", "@c: put 3 3", "@d: put 4 4")
	rig.Want(t, "result", rig.Apply(t, w, msgs), idem.Result{Applied: 3, Dead: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 3=3 4=4")
	if _, err := w.Apply(fault.With(t.Context(), rig.Lose(fault.BeforeClaim)), rig.Records(4, "@e: put 5 5")); err == nil {
		t.Fatal("the batch was sent")
	}
	rig.Want(t, "never sent", rig.Apply(t, w, rig.Records(4, "@e: put 5 5")), idem.Result{Applied: 1})
}

// Bug: a dead letter claims its key.
func TestDeadLetterDoesNotClaimItsKeyInTheChain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := ownChain(t, db)
	rig.Apply(t, w, rig.Records(0, "@a: need 5 1", "put 5 0", "@a: need 5 1", "@b: put 6 5000", "@b: put 6 6"))
	rig.Want(t, "dead letters", rig.Letters(t, db), "0 database, 3 database")
	rig.Want(t, "rows", rig.Table(t, db), "5=1 6=6")
	rig.Want(t, "later copies", rig.Apply(t, w, rig.Records(5, "@a: need 5 1", "@b: put 6 6")), idem.Result{Duplicates: 2})
}

// Bugs: one token for all attempts; own token found, the latest attempt's
// keys adopted. The first attempt held a as applied, the one that committed as dead.
func TestAdoptedAttemptBringsItsOwnKeys(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := ownChain(t, db)
	msgs := rig.Records(0, "@a: put 1 5000", "@b: put 2 2", "@c: put 3 3")
	if _, err := w.Apply(fault.With(t.Context(), rig.Lose(fault.Reply)), msgs); err == nil {
		t.Fatal("the reply was not lost")
	}
	rig.Want(t, "settled", rig.Apply(t, w, msgs), idem.Result{Applied: 2, Dead: 1})
	rig.Want(t, "good copy", rig.Apply(t, w, rig.Records(3, "@a: put 1 1", "@b: put 2 2")), idem.Result{Applied: 1, Duplicates: 1})
	if _, err := w.Apply(fault.With(t.Context(), rig.Lose(fault.Reply)), rig.Records(5, "@d: put 4 4", "@e: put 5 5")); err == nil {
		t.Fatal("the reply was not lost")
	}
	rig.Apply(t, w, rig.Records(5, "@d: put 4 4")) // finds that both are durable
	rig.Want(t, "copy of what it did not send", rig.Apply(t, w, rig.Records(7, "@e: put 5 5")), idem.Result{Duplicates: 1})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 4=4 5=5")
}

// Bug: the memory is kept after A->B->A. The process has the partition again, but
// another applied events meanwhile.
func TestMemoryIsNotUsedAfterAnotherOwner(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	one := rig.InChain(time.Hour).Consumer(t, db)
	rig.Apply(t, rig.Own(t, one), rig.Records(0, "@a: put 1 1"))
	rig.Apply(t, ownChain(t, db), rig.Records(1, "@b: put 2 2"))
	rig.Want(t, "copies", rig.Apply(t, rig.Own(t, one), rig.Records(2, "@b: put 2 2", "@a: put 1 1")), idem.Result{Duplicates: 2})
}

// Bug: after being fenced, only the tail is read again.
func TestFencedOwnerDoesNotGoOnWithItsMemory(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := ownChain(t, db)
	rig.Apply(t, old, rig.Records(0, "@a: put 1 1"))
	rig.Apply(t, ownChain(t, db), rig.Records(1, "@b: put 2 2"))
	for range 2 {
		_, err := old.Apply(t.Context(), rig.Records(2, "@b: put 2 2"))
		rig.WantError[*idem.FencedError](t, err)
	}
	rig.Want(t, "position", rig.Query(t, db, `SELECT max(next)::text FROM idem_ledger`), "2")
}

// Bug: the keys are loaded before the tail is read, without a fence. The old
// owner's last commit lands in between.
func TestKeysAreLoadedBehindTheFence(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := ownChain(t, db)
	rig.Apply(t, old, rig.Records(0, "@a: put 1 1"))
	late := true
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeFence && late {
			late = false
			rig.Apply(t, old, rig.Records(1, "@b: put 2 2"))
		}
		return nil
	})
	w, err := rig.InChain(time.Hour).Consumer(t, db).Own(ctx, rig.Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "position", w.Next(), 2)
	rig.Want(t, "copies", rig.Apply(t, w, rig.Records(2, "@b: put 2 2", "@a: put 1 1")), idem.Result{Duplicates: 2})
}

// After a failover that lost the tail, what its keys stood for is gone, too: an owner that
// knows them is refused, and the next one applies the events again.
func TestKeysAcrossAFailover(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	old := ownChain(t, db)
	rig.Apply(t, old, rig.Records(0, "@a: put 1 1"))
	rig.Apply(t, old, rig.Records(1, "@b: put 2 2"))
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq = (SELECT max(seq) FROM idem_ledger); DELETE FROM t WHERE id = 2`)
	_, err := old.Apply(t.Context(), rig.Records(2, "@b: put 2 2"))
	rig.WantError[*idem.FencedError](t, err)
	w := ownChain(t, db)
	rig.Want(t, "position", w.Next(), 1)
	rig.Want(t, "again", rig.Apply(t, w, rig.Records(1, "@b: put 2 2", "@a: put 1 1", "@b: put 2 2")), idem.Result{Applied: 1, Duplicates: 2})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
}

// A load reads any number of rows, a part at a time.
func TestLoadOfManyRows(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	ownChain(t, db)
	const rows = 2500
	idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, keys)
SELECT 1, n + 1, gen_random_uuid(), n - 1, n, 'b', -1, 1, 1, 0, CASE WHEN n % 5 > 0 THEN decode(md5(n::text), 'hex') || '\x00000007' END FROM generate_series(1, `+fmt.Sprint(rows)+`) n`)
	w := ownChain(t, db)
	rig.Want(t, "position", w.Next(), rows)
	rig.Want(t, "keys", w.Keys(), rows*4/5)
}

// The decision about a fresh key costs no memory of its own.
func TestFreshKeyNeedsNoAllocation(t *testing.T) {
	db := rig.Database(t)
	w := ownChain(t, db)
	rig.Apply(t, w, keysAt(0, 1000))
	few, many := w.DecisionAllocations(keysAt(1000, 100)), w.DecisionAllocations(keysAt(1000, 500))
	var plain []string
	for i := range 500 {
		plain = append(plain, fmt.Sprintf("put %d 1", i))
	}
	if offset := w.DecisionAllocations(rig.Records(1000, plain...)); many > few+10 || many > offset+10 {
		t.Errorf("%v allocations for 100 keys, %v for 500, %v for 500 records without", few, many, offset)
	}
}

// A conflict's letter says of the first copy what is known without a table of keys.
func TestConflictInTheChainNamesThePartition(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.InChain(time.Hour).Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "@a: put 1 1"))
	rig.Apply(t, w, rig.Records(1, "@a: put 1 2"))
	if reason := rig.Query(t, db, `SELECT string_agg(reason, ', ') FROM idem_dead_letter`); !strings.HasSuffix(reason, "; the first copy is in an earlier batch of test.v1/0") {
		t.Error(reason)
	}
}

// A partition that is given up while its keys are loaded is left at once, and its memory is
// nobody's.
func TestLoadEndsWithItsContext(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	rig.Apply(t, ownChain(t, db), keysAt(0, 100))
	c := rig.InChain(time.Hour).Consumer(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	lock, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback(context.Background())
	hook := fault.With(ctx, func(step string) error {
		if step == fault.BeforeLoad {
			_, err := lock.Exec(t.Context(), `LOCK TABLE idem_ledger`)
			time.AfterFunc(50*time.Millisecond, cancel)
			return err
		}
		return nil
	})
	if _, err := c.Own(hook, rig.Topic, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	rig.Want(t, "memory", c.KeyMemoryUsed(), 0)
}

// A take-over whose server is gone without a word ends, and the next one succeeds.
func TestLoadDoesNotWaitForASilentServer(t *testing.T) {
	rig.Lengthy(t)
	db := rig.Database(t)
	rig.Apply(t, ownChain(t, db), keysAt(0, 100))
	proxy, pool := cutproxy.Pool(t, db)
	s := rig.InChain(time.Hour)
	s.Edit = func(edit func(*wire.Service)) func(*wire.Service) {
		return func(w *wire.Service) { edit(w); w.Limits.BatchTimeout = time.Second }
	}(s.Edit)
	c := s.Consumer(t, pool)
	silent := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeLoad {
			proxy.Silence(cutproxy.Up, true)
		}
		return nil
	})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Own(silent, rig.Topic, 0, 0)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("nothing was read, and nobody says so")
		}
	case <-time.After(time.Minute):
		t.Fatal("the take-over waits")
	}
	proxy.Silence(cutproxy.Up, false)
	w, err := c.Own(t.Context(), rig.Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "next", w.Next(), 100)
}
