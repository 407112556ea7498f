package effect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/memlease"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/effects"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

func TestEffectWithItsLeaseOutside(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	var store memlease.Store
	s := p.ServiceWith(&store, rig.Terms)
	res := rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "a: effect 1", "put 5 5", "b: effect 2", "a: effect 1", "effect 3"))
	rig.Want(t, "duplicates", res.Duplicates, 1)
	for row := int32(1); row <= 3; row++ {
		rig.Want(t, fmt.Sprint("calls of row ", row), p.Count(row), 1)
		rig.Want(t, fmt.Sprint("rows ", row), rig.Query(t, db, `SELECT count(*)::text FROM t WHERE id = $1`, row), "1")
	}
	rig.Want(t, "leases in Postgres", rig.Leases(t, db), "")
	rig.Want(t, "leases outside", rig.OutsideStates(&store), "d d d")
	store.Forget() // the keys in Postgres are what tells copies
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(5, "b: effect 2"))
	rig.Want(t, "calls after copies", p.Count(2), 1)
}

// What crashes at a step is taken up as with a lease in Postgres.
func TestEffectOutsideCrashes(t *testing.T) {
	rig.Lengthy(t)
	for step, c := range map[string]struct {
		calls, interrupted int
	}{fault.BeforeLease: {1, 1}, fault.AfterLease: {1, 0}, fault.AfterCall: {2, 1}, fault.AfterDone: {1, 1}, fault.BeforeSend: {1, 1}, fault.Reply: {1, 1}} {
		for name, terms := range map[string]wire.EffectTerms{"retry": rig.Terms, "dead_letter": rig.Interrupts} {
			t.Run(step+", "+name, func(t *testing.T) {
				db := rig.Database(t)
				var p rig.Provider
				var store memlease.Store
				s := p.ServiceWith(&store, terms)
				msgs := rig.Records(0, "a: effect 1", "put 5 5")
				if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(step)), msgs); err == nil {
					t.Fatal("no crash")
				}
				w := rig.Own(t, s.Consumer(t, db))
				rig.Apply(t, w, msgs)
				rig.Want(t, "next", w.Next(), 2)
				calls, letter := c.calls, ""
				if terms.Interrupts {
					calls = c.interrupted
					if step == fault.AfterLease || step == fault.AfterCall {
						letter = "0 interrupted"
					}
				}
				rig.Want(t, "calls", p.Count(1), calls)
				rig.Want(t, "dead letters", rig.Letters(t, db), letter)
			})
		}
	}
}

// Two processes that both have a copy of each event make one call for each, and one of the rows.
func TestTwoProcessesWithOneStore(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	p := rig.Provider{Call: func(context.Context, int32, int) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	}}
	var store memlease.Store
	var texts []string
	for row := range 10 {
		texts = append(texts, fmt.Sprintf("k%d: effect %d", row, row))
	}
	var all sync.WaitGroup
	for partition := range int32(2) {
		w, err := p.ServiceWith(&store, rig.Terms).Consumer(t, db).Own(t.Context(), rig.Topic, partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := rig.Records(0, texts...)
		for i := range msgs {
			msgs[i].Partition = partition
		}
		all.Go(func() {
			for w.Next() < int64(len(msgs)) {
				if _, err := w.Apply(t.Context(), msgs); err != nil {
					if _, halted := errors.AsType[*idem.HaltedError](err); halted {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	for row := range int32(10) {
		rig.Want(t, fmt.Sprint("calls of row ", row), p.Count(row), 1)
	}
	rig.Want(t, "rows", rig.Query(t, db, `SELECT count(*)::text FROM t`), "10")
}

// A store that lost its data has an event called again that the ledger has not passed, and lets
// one result count all the same.
func TestAStoreThatForgets(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	var store memlease.Store
	s := p.ServiceWith(&store, rig.Terms)
	first, second := rig.Own(t, s.Consumer(t, db)), s.Consumer(t, db)
	other, err := second.Own(t.Context(), rig.Topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	copied := rig.Records(0, "a: effect 1")
	copied[0].Partition = 1
	once := true
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && once { // the result is recorded, and the ledger has not passed the event
			once = false
			store.Forget()
			rig.Apply(t, other, copied)
		}
		return nil
	})
	if _, err := first.Apply(ctx, rig.Records(0, "a: effect 1")); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "calls", p.Count(1), 2)
	rig.Want(t, "rows", rig.Table(t, db), "1=2")
}

// The statement of docs/operations.md says of a key that its call was made: a store that comes
// back empty makes no second one. The record is a dead letter until a person gives the result.
func TestAStoreThatLostItsDataIsTold(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Redis lost its data\n")
	_, sql, _ := strings.Cut(section, "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	db := rig.Database(t)
	var p rig.Provider
	var store memlease.Store
	s := p.ServiceWith(&store, rig.Interrupts)
	msgs := rig.Records(0, "a: effect 1")
	if _, err := rig.Own(t, s.Consumer(t, db)).Apply(fault.With(t.Context(), rig.Lose(fault.AfterCall)), msgs); err == nil {
		t.Fatal("no crash")
	}
	store.Forget()
	idemtest.Exec(t, db, strings.NewReplacer("notifications", "test", "5f0c6bb5ae0d4bd38a1d2c1d5c2f6f01", p.Key.String()).Replace(sql))
	w := rig.Own(t, s.Consumer(t, db))
	rig.Apply(t, w, append(msgs, rig.Records(1, "b: effect 2")...))
	rig.Want(t, "letters", rig.Letters(t, db), "0 interrupted")
	rig.Want(t, "calls", fmt.Sprint(p.Count(1), p.Count(2)), "1 1")
	rig.GiveResult(t, db, 0, "7")
	rig.Apply(t, w, nil)
	rig.Want(t, "letters", rig.Query(t, db, `SELECT string_agg(state::text, ' ') FROM idem_dead_letter`), "r")
	rig.Want(t, "calls", p.Count(1), 1)
	rig.Want(t, "rows", rig.Table(t, db), "1=7 2=2")
}

// Leases outside of Postgres are numbered by it, each greater than those before, and past the
// numbers that a store knows of a time before a fail-over.
func TestTheLeasesOfOtherStoresAreNumbered(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 1000)`)
	var mu sync.Mutex
	var tokens []int64
	p := rig.Provider{Call: func(ctx context.Context, row int32, _ int) error {
		d, _ := idem.DeliveryFrom(ctx)
		mu.Lock()
		tokens = append(tokens, d.Token)
		mu.Unlock()
		if row == 2 {
			idemtest.Exec(t, db, `SELECT setval('idem_fence', 1)`)
			return errors.New("once more, with a number that is too small")
		}
		return nil
	}}
	s := p.ServiceWith(&memlease.Store{}, rig.Terms)
	s.Policy.Retries = 1
	w := rig.Own(t, s.Consumer(t, db))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for offset, text := range []string{"a: effect 1", "b: effect 2"} {
		if _, err := w.Apply(ctx, rig.Records(int64(offset), text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(tokens) != 3 || tokens[0] <= 1000 || tokens[1] <= tokens[0] || tokens[2] <= tokens[1] {
		t.Errorf("numbers: %v", tokens)
	}
}

// A store is given to a service with effects only, and is not nil.
func TestTheStoreOfLeasesIsGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		effects bool
		options []idem.Option
		err     string
	}{
		"none is needed": {false, []idem.Option{idem.WithLeases(&memlease.Store{})}, "no event of the spec has an effect"},
		"nil":            {true, []idem.Option{idem.WithLeases(nil)}, "pass redislease.New(client)"},
		"none was given": {true, nil, ""},
		"given":          {true, []idem.Option{idem.WithLeases(&memlease.Store{})}, ""},
		"neither":        {false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, spec := &pgxpool.Pool{}, wire.Service{Consumer: "test"}
			if c.effects {
				spec.Topics = []wire.Topic{{Name: rig.Topic, Effects: time.Second}}
			}
			_, err := idem.New(db, spec, append(c.options, effects.Option())...)
			if text := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(text, c.err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// checkedStore says what is wrong with its set-up.
type checkedStore struct{ memlease.Store }

func (*checkedStore) Check(context.Context) ([]string, error) {
	return []string{"it may evict keys"}, errors.New("and INFO is not allowed")
}

// What a store says of its set-up is logged when the service starts.
func TestTheSetUpOfTheStoreIsTold(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	var log bytes.Buffer
	s := p.ServiceWith(&checkedStore{}, rig.Terms)
	s.Options = append(s.Options, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source := func(context.Context, idem.Sink) error {
		time.Sleep(50 * time.Millisecond)
		cancel()
		return nil
	}
	if err := s.Consumer(t, db).Run(ctx, rig.SourceFunc(source)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"lease store: it may evict keys", "could not be checked"} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log does not say %q:\n%s", text, &log)
		}
	}
}

// A topic that was deleted and made again has other records at the same offsets. Their effects are
// theirs, not those of the records before.
func TestEffectsOfATopicThatWasMadeAgain(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	run := func(id byte) {
		src := rig.NewSource(rig.Records(0, "effect 1"))
		src.Assignment.TopicID = idem.UUID{id}
		if err := src.Consume(t, p.Service(rig.Terms).Consumer(t, db)); err != nil {
			t.Fatal(err)
		}
	}
	run(1)
	again := operate.Name{Consumer: "test", Topic: rig.Topic, TopicID: idem.UUID{2}.String()}
	if _, err := operate.Set(t.Context(), db, again, operate.Target{From: halt.NoLedger, To: 0, Partitions: 4}, operate.By{Operator: "ann", Reason: "made again"}); err != nil {
		t.Fatal(err)
	}
	run(2)
	rig.Want(t, "calls", p.Count(1), 2)
	rig.Want(t, "leases", rig.Leases(t, db), "c c")
}

// Two databases may share a store of leases although their consumers have one name: neither sees
// the other's results. A copy of a database is another one once it has an id of its own.
func TestDatabasesThatShareAStore(t *testing.T) {
	t.Parallel()
	var p rig.Provider
	var store memlease.Store
	s := p.ServiceWith(&store, rig.Terms)
	for n := 1; n <= 2; n++ {
		db := rig.Database(t)
		idemtest.Exec(t, db, `UPDATE idem_schema SET id = gen_random_uuid()`) // tests are copies of one
		rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(0, "a: effect 1"))
		rig.Want(t, "calls", p.Count(1), n)
		rig.Want(t, "rows", rig.Table(t, db), fmt.Sprint("1=", n))
	}
	db := rig.Database(t)
	idemtest.Exec(t, db, `UPDATE idem_schema SET version = 2 WHERE part = 'core'`)
	_, err := rig.Own(t, s.Consumer(t, db)).Apply(t.Context(), rig.Records(0, "a: effect 1"))
	rig.WantText(t, rig.WantError[*idem.HaltedError](t, err), "read the database's id from idem_schema")
}
