package chain_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

const consumer = "test"

var (
	first   = idemtype.Partition{Topic: "t", Number: 0}
	topicID = wire.UUID{1}
)

// connect returns a connection of the runtime to a database with its tables.
func connect(t *testing.T) (*pgxpool.Pool, *pgx.Conn) {
	t.Helper()
	db := rig.Database(t)
	service := &wire.Service{
		Consumer: consumer, Schema: map[string]int{"core": 1, "keys": 1},
		Limits: wire.Limits{BatchTimeout: 30 * time.Second, StatementTimeout: 8 * time.Second, LockTimeout: 5 * time.Second},
	}
	p := pool.New(db, service, catalog.NewCurrent(service, slog.New(slog.DiscardHandler)), chain.Statements)
	t.Cleanup(p.Close)
	conn, err := p.Acquire(t.Context(), func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release)
	return db, conn.Conn()
}

// begin begins the chain of a partition at offset 5.
func begin(t *testing.T, conn *pgx.Conn, p idemtype.Partition) *chain.Chain {
	t.Helper()
	c := &chain.Chain{Now: time.Now}
	is, err := c.Begin(t.Context(), conn, chain.Genesis{Consumer: consumer, Partition: p, TopicID: topicID, Start: 5, Def: 7, Partitions: 3})
	if !is || err != nil {
		t.Fatal(is, err)
	}
	must(t, c.Read(t.Context(), conn))
	must(t, c.Stand(t.Context(), conn, false))
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// attempt sends an append up to next, whose reply is lost.
func attempt(t *testing.T, conn *pgx.Conn, c *chain.Chain, next int64) chain.Attempt {
	t.Helper()
	a := chain.Attempt{Row: ledger.Row{Kind: ledger.Batch, Token: ledger.NewToken(), Next: next, Epoch: 4}, InRow: ledger.InRow{}}
	c.Try(a)
	p := pipeline.New(t.Context(), conn)
	p.Add(c.Append(a.Row))
	_, err := p.Run()
	must(t, err)
	c.Doubt()
	return a
}

// TestResolveFindsWhoseRowIsThere: an own attempt, another owner's fence or batch, an operator's
// row, or nothing; only the own one counts, and the tail moves past the others.
func TestResolveFindsWhoseRowIsThere(t *testing.T) {
	t.Parallel()
	db, conn := connect(t)
	c := begin(t, conn, first)
	rig.Want(t, "position", c.Next(), 5)
	if s, err := c.Resolve(t.Context(), conn); s.Found != chain.Nothing || err != nil {
		t.Fatal(s, err)
	}
	attempt(t, conn, c, 9)
	if !c.Tried() || c.Open() != 1 {
		t.Error("the attempt is not open")
	}
	s, err := c.Resolve(t.Context(), conn)
	must(t, err)
	rig.Want(t, "found", s.Found, chain.Own)
	rig.Want(t, "position before it is settled", c.Next(), 5)
	c.Settle(s.Committed)
	rig.Want(t, "position", c.Next(), 9)
	rig.Want(t, "leader epoch", c.Tail().Epoch, 4)
	if c.Tried() || c.Open() != 0 || c.Tail().Def != 7 || c.Tail().Parts != 3 {
		t.Errorf("settled: %+v", c.Tail())
	}

	other := &chain.Chain{Now: time.Now}
	found, err := other.Find(t.Context(), conn, consumer, first, &topicID, topicID)
	if !found.Found || found.Recreated || found.Added || err != nil {
		t.Fatal(found, err)
	}
	must(t, other.Read(t.Context(), conn))
	rig.Want(t, "tail of another owner", other.Tail().Token, c.Tail().Token)
	parts := int32(4)
	must(t, other.Fence(t.Context(), conn, 8, &parts, 1, ", in a test"))
	rig.Want(t, "tail of another owner", other.Tail().Parts, parts)
	if s, err = c.Resolve(t.Context(), conn); s.Found != chain.ByFence || err != nil {
		t.Errorf("a fence: %v, %v", s.Found, err)
	}
	must(t, c.Read(t.Context(), conn))
	rig.Want(t, "identity after the fence", c.Tail().Def, 8)
	attempt(t, conn, other, 12)
	if s, err = c.Resolve(t.Context(), conn); s.Found != chain.ByOther || err != nil {
		t.Errorf("a batch of another owner: %v, %v", s.Found, err)
	}
	must(t, c.Read(t.Context(), conn))
	rig.AppendRow(t, db, "f", "next", "somebody")
	idemtest.Exec(t, db, `UPDATE idem_ledger SET writer = 'o' WHERE seq = (SELECT max(seq) FROM idem_ledger)`)
	if s, err = c.Resolve(t.Context(), conn); s.Found != chain.ByOperator || err != nil {
		t.Errorf("an operator's row: %v, %v", s.Found, err)
	}
}

// TestErrorsOfReadingAreReturned: a tail that cannot be read is an error, not an empty tail.
func TestErrorsOfReadingAreReturned(t *testing.T) {
	t.Parallel()
	db, conn := connect(t)
	c := begin(t, conn, first)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
	if err := c.Read(t.Context(), conn); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("a ledger without rows: got %v", err)
	}
	idemtest.Exec(t, db, `DROP TABLE idem_ledger CASCADE; DROP SEQUENCE idem_fence CASCADE`)
	if err := c.Read(t.Context(), conn); err == nil {
		t.Error("no ledger: no error")
	}
	if _, err := c.Resolve(t.Context(), conn); err == nil {
		t.Error("no ledger to resolve: no error")
	}
	if moved, lost, err := c.Check(t.Context(), conn); moved || lost || err == nil {
		t.Errorf("no ledger to check: %v, %v, %v", moved, lost, err)
	}
	if _, err := chain.Others(t.Context(), conn, consumer, first, topicID); err == nil {
		t.Error("no ledger of others: no error")
	}
	if _, err := chain.Tails(t.Context(), conn, consumer, "t", topicID, []int32{0}); err == nil {
		t.Error("no tails: no error")
	}
	if _, err := chain.PassToken(t.Context(), conn, 1); err == nil {
		t.Error("no sequence of tokens: no error")
	}
}

// TestTokensPassWhatIsKnown: the sequence of fencing tokens moves only if it is behind a token
// that is known to have been drawn, and far past it.
func TestTokensPassWhatIsKnown(t *testing.T) {
	t.Parallel()
	db, conn := connect(t)
	drawn := func() (n int64) {
		t.Helper()
		must(t, db.QueryRow(t.Context(), ledger.DrawnSQL).Scan(&n))
		return n
	}
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 10)`)
	for _, known := range []int64{9, 10} {
		if moved, err := chain.PassToken(t.Context(), conn, known); moved || err != nil || drawn() != 10 {
			t.Errorf("known %d: %v, %v, drawn %d", known, moved, err, drawn())
		}
	}
	if moved, err := chain.PassToken(t.Context(), conn, 11); !moved || err != nil || drawn() < 1_000_000_011 {
		t.Errorf("known 11: %v, %v, drawn %d", moved, err, drawn())
	}
	c := begin(t, conn, first)
	unknown := ledger.Mark{Stream: c.ID(), Seq: 7, Token: ledger.NewToken(), Next: 9, Fence: 2_000_000_000}
	m, is, err := c.Compare(t.Context(), conn, []ledger.Mark{unknown}, true)
	if !is || err != nil || m.To != 9 || drawn() < 3_000_000_000 {
		t.Errorf("lost commits: %+v, %v, %v, drawn %d", m, is, err, drawn())
	}
	if _, fence := c.Gone(); fence < 3_000_000_000 {
		t.Errorf("decisions below %d may have been carried out", fence)
	}
	if c.Drawn() != drawn() {
		t.Errorf("the chain knows %d, and %d is drawn", c.Drawn(), drawn())
	}
	// The clock has passed all tokens, however often the sequence moves: a copy of the database goes
	// to the time.
	var now int64
	must(t, db.QueryRow(t.Context(), `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&now))
	if drawn() > now {
		t.Errorf("the sequence is at %d, ahead of the time %d", drawn(), now)
	}
	ahead := now + time.Hour.Microseconds() // as of a server whose clock is ahead
	if moved, err := chain.PassToken(t.Context(), conn, ahead); !moved || err != nil || drawn() < ahead+1_000_000 {
		t.Errorf("known %d: %v, %v, drawn %d", ahead, moved, err, drawn())
	}
}

// TestCheckSeesWhatBecameOfTheTail: it still ends the chain, a row follows it, or it is gone.
func TestCheckSeesWhatBecameOfTheTail(t *testing.T) {
	t.Parallel()
	db, conn := connect(t)
	c := begin(t, conn, first)
	check := func(what string, moved, lost bool) {
		t.Helper()
		m, l, err := c.Check(t.Context(), conn)
		if m != moved || l != lost || err != nil {
			t.Errorf("%s: moved %v, lost %v, %v", what, m, l, err)
		}
	}
	check("the tail", false, false)
	attempt(t, conn, c, 9)
	check("a row that follows", true, false)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger WHERE seq = 0`)
	check("a row that follows, and the tail was removed", true, false)
	s, err := c.Resolve(t.Context(), conn)
	must(t, err)
	c.Settle(s.Committed)
	check("the new tail", false, false)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET token = gen_random_uuid()`)
	check("another row in its place", false, true)
	idemtest.Exec(t, db, `DELETE FROM idem_ledger`)
	check("no row", false, true)
}

// TestDoubtAndStall: only an append in doubt that then waits for a lock is stalled, and settling
// ends both.
func TestDoubtAndStall(t *testing.T) {
	t.Parallel()
	_, conn := connect(t)
	c := begin(t, conn, first)
	c.Locked()
	rig.Want(t, "stalled without doubt", c.Stalled(), false)
	attempt(t, conn, c, 6)
	c.Locked()
	rig.Want(t, "stalled in doubt", c.Stalled(), true)
	c.Stall(false)
	rig.Want(t, "stalled after it was ended", c.Stalled(), false)
	c.Stall(true)
	s, err := c.Resolve(t.Context(), conn)
	must(t, err)
	c.Settle(s.Committed)
	rig.Want(t, "stalled after it was settled", c.Stalled(), false)
	c.Locked()
	rig.Want(t, "stalled without doubt again", c.Stalled(), false)
	for range 3 {
		c.Try(chain.Attempt{})
	}
	c.RolledBack(1)
	rig.Want(t, "attempts after two rolled back", c.Open(), 1)
}

// TestUntouchedOnce: a partition can be handed back once after a fence, and not once an append was
// sent.
func TestUntouchedOnce(t *testing.T) {
	t.Parallel()
	_, conn := connect(t)
	c := begin(t, conn, first)
	rig.Want(t, "without a fence", c.Untouched(), false)
	must(t, c.Fence(t.Context(), conn, 7, nil, 1, ""))
	rig.Want(t, "after a fence", c.Untouched(), true)
	rig.Want(t, "a second time", c.Untouched(), false)
	rig.Want(t, "partitions that no broker provided", c.Tail().Parts, 3)
	must(t, c.Fence(t.Context(), conn, 7, nil, 1, ""))
	c.Try(chain.Attempt{})
	rig.Want(t, "after an append", c.Untouched(), false)
	c.RolledBack(0)
	must(t, c.HandBack(t.Context(), conn))
	must(t, c.Read(t.Context(), conn))
	if tail := c.Tail(); tail.Writer != ledger.HandBack || tail.Kind != ledger.Fence || tail.Next != 5 {
		t.Errorf("handed back: %+v", tail)
	}
}

// TestMarksOfTheChain: a mark of a row that the chain has, or of another chain, says nothing; one
// of a row that it never had says which commits are gone, once.
func TestMarksOfTheChain(t *testing.T) {
	t.Parallel()
	_, conn := connect(t)
	c := begin(t, conn, first)
	mark := c.Mark(consumer)
	if mark.Stream != c.ID() || mark.Next != 5 || mark.High != 5 || mark.Consumer != consumer {
		t.Errorf("mark %+v", mark)
	}
	attempt(t, conn, c, 9)
	s, err := c.Resolve(t.Context(), conn)
	must(t, err)
	c.Settle(s.Committed)
	unknown := ledger.Mark{Stream: c.ID(), Seq: 7, Token: ledger.NewToken(), Next: 40, High: 50, Fence: 3}
	foreign := unknown
	foreign.Stream = wire.UUID{9}
	if _, is, err := c.Compare(t.Context(), conn, []ledger.Mark{mark, foreign, c.Mark(consumer)}, false); is || err != nil {
		t.Errorf("known and foreign marks: %v, %v", is, err)
	}
	if _, is := c.Lost(); is {
		t.Error("something is lost")
	}
	m, is, err := c.Compare(t.Context(), conn, []ledger.Mark{foreign, unknown}, false)
	if !is || err != nil || m != (chain.Missing{From: 9, To: 50}) {
		t.Errorf("an unknown mark: %+v, %v, %v", m, is, err)
	}
	if lost, is := c.Lost(); !is || lost.From != 9 || lost.To != 50 {
		t.Errorf("lost: %+v, %v", lost, is)
	}
	if to, _ := c.Gone(); to != 50 {
		t.Errorf("calls may have been made up to %d, want 50", to)
	}
	rig.Want(t, "the mark's highest call", c.Mark(consumer).High, 50)
	if m, is, err = c.Compare(t.Context(), conn, []ledger.Mark{unknown}, false); !is || !m.Known || err != nil {
		t.Errorf("the same mark again: %+v, %v, %v", m, is, err)
	}
}

// TestFindTellsChainsApart: those of an earlier topic of the name, and of other partitions.
func TestFindTellsChainsApart(t *testing.T) {
	t.Parallel()
	_, conn := connect(t)
	begin(t, conn, first)
	find := func(p int32, topic *wire.UUID, id wire.UUID) chain.Existing {
		t.Helper()
		k, err := (&chain.Chain{}).Find(t.Context(), conn, consumer, idemtype.Partition{Topic: "t", Number: p}, topic, id)
		must(t, err)
		return k
	}
	later := wire.UUID{2}
	rig.Want(t, "the partition's", find(0, &topicID, topicID), chain.Existing{Found: true})
	rig.Want(t, "by its name alone", find(0, nil, wire.UUID{}), chain.Existing{Found: true})
	rig.Want(t, "of an earlier topic", find(0, &later, later), chain.Existing{Recreated: true})
	rig.Want(t, "of a partition that the topic had", find(2, &topicID, topicID), chain.Existing{})
	rig.Want(t, "of a partition that was added", find(3, &topicID, topicID), chain.Existing{Added: true})
	rig.Want(t, "of another partition of a later topic", find(1, &later, later), chain.Existing{Added: true})

	n, err := chain.Others(t.Context(), conn, consumer, idemtype.Partition{Topic: "t", Number: 1}, topicID)
	must(t, err)
	rig.Want(t, "partitions that other chains know", n, chain.Counts{Least: 3, Most: 3})
	third := begin(t, conn, idemtype.Partition{Topic: "t", Number: 2})
	more := int32(6)
	must(t, third.Fence(t.Context(), conn, 7, &more, 1, ""))
	n, err = chain.Others(t.Context(), conn, consumer, idemtype.Partition{Topic: "t", Number: 1}, topicID)
	must(t, err)
	rig.Want(t, "partitions that two other chains know", n, chain.Counts{Least: 3, Most: 6})
	tails, err := chain.Tails(t.Context(), conn, consumer, "t", topicID, []int32{1, 2})
	must(t, err)
	if c := tails[2]; len(tails) != 1 || c.Mark(consumer) != third.Mark(consumer) || c.Stream() != third.Stream() {
		t.Errorf("tails: %+v", tails)
	}
	n, err = chain.Others(t.Context(), conn, consumer, first, later)
	must(t, err)
	rig.Want(t, "without other chains", n, chain.Counts{})
	again := &chain.Chain{Now: time.Now}
	is, err := again.Begin(t.Context(), conn, chain.Genesis{Consumer: consumer, Partition: first, TopicID: topicID, Start: 0})
	if is || err != nil {
		t.Errorf("a second genesis: %v, %v", is, err)
	}
	must(t, again.Read(t.Context(), conn))
	rig.Want(t, "position of the first one", again.Next(), 5)
	if next, is, err := again.Superseded(t.Context(), conn); is || next != 5 || err != nil {
		t.Errorf("superseded: %d, %v, %v", next, is, err)
	}
}
