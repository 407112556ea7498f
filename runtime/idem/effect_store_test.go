package idem_test

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
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// serviceWith has its leases in a store.
func (p *provider) serviceWith(store lease.Store, terms wire.EffectTerms) service {
	s := p.service(terms)
	s.options = []idem.Option{idem.WithLeases(store)}
	return s
}

// outsideStates are the leases of a store as letters, sorted.
func outsideStates(store *memlease.Store) string {
	counts := map[lease.State]int{}
	for _, s := range store.States("test") {
		counts[s]++
	}
	var out []string
	for _, s := range []lease.State{lease.Completed, lease.Done, lease.Failed, lease.Interrupted, lease.Processing} {
		for range counts[s] {
			out = append(out, string(s))
		}
	}
	return strings.Join(out, " ")
}

func TestEffectWithItsLeaseOutside(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	var store memlease.Store
	s := p.serviceWith(&store, terms)
	res := apply(t, own(t, s.consumer(t, db)), records(0, "a: effect 1", "put 5 5", "b: effect 2", "a: effect 1", "effect 3"))
	want(t, "duplicates", res.Duplicates, 1)
	for row := int32(1); row <= 3; row++ {
		want(t, fmt.Sprint("calls of row ", row), p.count(row), 1)
		want(t, fmt.Sprint("rows ", row), query(t, db, `SELECT count(*)::text FROM t WHERE id = $1`, row), "1")
	}
	want(t, "leases in Postgres", leases(t, db), "")
	want(t, "leases outside", outsideStates(&store), "d d d")
	store.Forget() // the keys in Postgres are what tells copies
	apply(t, own(t, s.consumer(t, db)), records(5, "b: effect 2"))
	want(t, "calls after copies", p.count(2), 1)
}

// What crashes at a step is taken up as with a lease in Postgres.
func TestEffectOutsideCrashes(t *testing.T) {
	lengthy(t)
	for step, c := range map[string]struct {
		calls, interrupted int
	}{fault.BeforeLease: {1, 1}, fault.AfterLease: {1, 0}, fault.AfterCall: {2, 1}, fault.AfterDone: {1, 1}, fault.BeforeSend: {1, 1}, fault.Reply: {1, 1}} {
		for name, terms := range map[string]wire.EffectTerms{"retry": terms, "dead_letter": interrupts} {
			t.Run(step+", "+name, func(t *testing.T) {
				db := database(t)
				var p provider
				var store memlease.Store
				s := p.serviceWith(&store, terms)
				msgs := records(0, "a: effect 1", "put 5 5")
				if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(step)), msgs); err == nil {
					t.Fatal("no crash")
				}
				w := own(t, s.consumer(t, db))
				apply(t, w, msgs)
				want(t, "next", w.Next(), 2)
				calls, letter := c.calls, ""
				if terms.Interrupts {
					calls = c.interrupted
					if step == fault.AfterLease || step == fault.AfterCall {
						letter = "0 interrupted"
					}
				}
				want(t, "calls", p.count(1), calls)
				want(t, "dead letters", letters(t, db), letter)
			})
		}
	}
}

// Two processes that both have a copy of each event make one call for each, and one of the rows.
func TestTwoProcessesWithOneStore(t *testing.T) {
	t.Parallel()
	db := database(t)
	p := provider{call: func(context.Context, int32, int) error {
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
		w, err := p.serviceWith(&store, terms).consumer(t, db).Own(t.Context(), topic, partition, 0)
		if err != nil {
			t.Fatal(err)
		}
		msgs := records(0, texts...)
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
		want(t, fmt.Sprint("calls of row ", row), p.count(row), 1)
	}
	want(t, "rows", query(t, db, `SELECT count(*)::text FROM t`), "10")
}

// A store that lost its data has an event called again that the ledger has not passed, and lets
// one result count all the same.
func TestAStoreThatForgets(t *testing.T) {
	t.Parallel()
	db := database(t)
	var p provider
	var store memlease.Store
	s := p.serviceWith(&store, terms)
	first, second := own(t, s.consumer(t, db)), s.consumer(t, db)
	other, err := second.Own(t.Context(), topic, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	copied := records(0, "a: effect 1")
	copied[0].Partition = 1
	once := true
	ctx := fault.With(t.Context(), func(step string) error {
		if step == fault.BeforeClaim && once { // the result is recorded, and the ledger has not passed the event
			once = false
			store.Forget()
			apply(t, other, copied)
		}
		return nil
	})
	if _, err := first.Apply(ctx, records(0, "a: effect 1")); err != nil {
		t.Fatal(err)
	}
	want(t, "calls", p.count(1), 2)
	want(t, "rows", table(t, db), "1=2")
}

// The statement of docs/operations.md says of a key that its call was made: a store that comes
// back empty makes no second one. The record is a dead letter until a person gives the result.
func TestAStoreThatLostItsDataIsTold(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Redis lost its data\n")
	_, sql, _ := strings.Cut(section, "```sql\n")
	sql, _, _ = strings.Cut(sql, "```")
	db := database(t)
	var p provider
	var store memlease.Store
	s := p.serviceWith(&store, interrupts)
	msgs := records(0, "a: effect 1")
	if _, err := own(t, s.consumer(t, db)).Apply(fault.With(t.Context(), lose(fault.AfterCall)), msgs); err == nil {
		t.Fatal("no crash")
	}
	store.Forget()
	idemtest.Exec(t, db, strings.NewReplacer("notifications", "test", "5f0c6bb5ae0d4bd38a1d2c1d5c2f6f01", p.key.String()).Replace(sql))
	w := own(t, s.consumer(t, db))
	apply(t, w, append(msgs, records(1, "b: effect 2")...))
	want(t, "letters", letters(t, db), "0 interrupted")
	want(t, "calls", fmt.Sprint(p.count(1), p.count(2)), "1 1")
	giveResult(t, db, 0, "7")
	apply(t, w, nil)
	want(t, "letters", query(t, db, `SELECT string_agg(state::text, ' ') FROM idem_dead_letter`), "r")
	want(t, "calls", p.count(1), 1)
	want(t, "rows", table(t, db), "1=7 2=2")
}

// Leases outside of Postgres are numbered by it, each greater than those before, and past the
// numbers that a store knows of a time before a fail-over.
func TestTheLeasesOfOtherStoresAreNumbered(t *testing.T) {
	t.Parallel()
	db := database(t)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 1000)`)
	var mu sync.Mutex
	var tokens []int64
	p := provider{call: func(ctx context.Context, row int32, _ int) error {
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
	s := p.serviceWith(&memlease.Store{}, terms)
	s.policy.Retries = 1
	w := own(t, s.consumer(t, db))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for offset, text := range []string{"a: effect 1", "b: effect 2"} {
		if _, err := w.Apply(ctx, records(int64(offset), text)); err != nil {
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
				spec.Topics = []wire.Topic{{Name: topic, Effects: time.Second}}
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
	db := database(t)
	var p provider
	var log bytes.Buffer
	s := p.serviceWith(&checkedStore{}, terms)
	s.options = append(s.options, idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source := func(context.Context, idem.Sink) error {
		time.Sleep(50 * time.Millisecond)
		cancel()
		return nil
	}
	if err := s.consumer(t, db).Run(ctx, sourceFunc(source)); err != nil {
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
	db := database(t)
	var p provider
	run := func(id byte) {
		src := newSource(records(0, "effect 1"))
		src.assignment.TopicID = idem.UUID{id}
		if err := src.run(t, p.service(terms).consumer(t, db)); err != nil {
			t.Fatal(err)
		}
	}
	run(1)
	again := operate.Name{Consumer: "test", Topic: topic, TopicID: idem.UUID{2}.String()}
	if _, err := operate.Set(t.Context(), db, again, operate.Target{From: halt.NoLedger, To: 0, Partitions: 4}, operate.By{Operator: "ann", Reason: "made again"}); err != nil {
		t.Fatal(err)
	}
	run(2)
	want(t, "calls", p.count(1), 2)
	want(t, "leases", leases(t, db), "c c")
}

// Two databases may share a store of leases although their consumers have one name: neither sees
// the other's results. A copy of a database is another one once it has an id of its own.
func TestDatabasesThatShareAStore(t *testing.T) {
	t.Parallel()
	var p provider
	var store memlease.Store
	s := p.serviceWith(&store, terms)
	for n := 1; n <= 2; n++ {
		db := database(t)
		idemtest.Exec(t, db, `UPDATE idem_schema SET id = gen_random_uuid()`) // tests are copies of one
		apply(t, own(t, s.consumer(t, db)), records(0, "a: effect 1"))
		want(t, "calls", p.count(1), n)
		want(t, "rows", table(t, db), fmt.Sprint("1=", n))
	}
	db := database(t)
	idemtest.Exec(t, db, `UPDATE idem_schema SET version = 2 WHERE part = 'core'`)
	_, err := own(t, s.consumer(t, db)).Apply(t.Context(), records(0, "a: effect 1"))
	wantText(t, wantError[*idem.HaltedError](t, err), "read the database's id from idem_schema")
}
