package maintain_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// chain makes a stream of a consumer with rows 0 to tail; the last one declares
// window. Every seventh row is a fence.
func chain(t testing.TB, db *pgxpool.Pool, consumer string, tail, window int) (stream string) {
	t.Helper()
	stream = text(t, db, `INSERT INTO idem_stream (consumer, topic, topic_id, partition, seen_at) VALUES ($1, 'x', gen_random_uuid(), 0, clock_timestamp()) RETURNING stream`, consumer)
	idemtest.Exec(t, db, `INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq)
SELECT $1::text::int, n, gen_random_uuid(), n - n / 7, n + 1 - (n + 1) / 7, CASE WHEN n % 7 = 6 THEN 'f'::"char" ELSE 'b' END, -1, 1, 1, least(n, $3::int) FROM generate_series(0, $2::int) n`, stream, tail, window)
	return stream
}

func rows(t testing.TB, db *pgxpool.Pool, stream string) string {
	t.Helper()
	return text(t, db, `SELECT min(seq) || ' ' || max(seq) || ' ' || count(*) FROM idem_ledger WHERE stream = $1::text::int`, stream)
}

// Bugs: the tail of an idle stream is removed; what is removed is no
// prefix.
func TestChainKeepsItsTailAndHasNoHole(t *testing.T) {
	t.Parallel()
	db := database(t)
	busy, young := chain(t, db, "a", 3500, 3400), chain(t, db, "a", 20, 0)
	idle := chain(t, db, "a", 50, 50) // its tail itself is all that is needed
	other := chain(t, db, "gone", 3500, 3400)
	j, _ := job(db, "a")
	_ = j.Once(fault.With(t.Context(), func(string) error { return errCrash }))
	want(t, "busy, after a crash in between", rows(t, db, busy), "1000 3500 2501")
	upkeep(t, db, j)
	want(t, "busy", rows(t, db, busy), "3400 3500 101")
	want(t, "young", rows(t, db, young), "0 20 21")
	want(t, "idle", rows(t, db, idle), "50 50 1")
	want(t, "another consumer's", rows(t, db, other), "0 3500 3501")
}

// letter makes dead letters that were made 10 days ago and kept for keep.
func letter(t testing.TB, db *pgxpool.Pool, stream string, n int, state, keep string) {
	t.Helper()
	idemtest.Exec(t, db, `INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, created_at, expires_at)
SELECT $1::text::int, (SELECT coalesce(max(offs), 0) FROM idem_dead_letter) + n, 1, $3::text::"char", $4, clock_timestamp() - interval '10 days', clock_timestamp() - interval '10 days' + $4::text::interval
FROM generate_series(1, $2) n`, stream, n, state, keep)
}

// left are the dead letters as "state n", in order.
func left(t testing.TB, db *pgxpool.Pool) string {
	t.Helper()
	return text(t, db, `SELECT coalesce(string_agg(line, ', ' ORDER BY line), '') FROM
(SELECT state::text || ' ' || count(*) AS line FROM idem_dead_letter GROUP BY state) s`)
}

func TestDeadLettersAreClosedAndThenRemoved(t *testing.T) {
	t.Parallel()
	db := database(t)
	stream, gone := chain(t, db, "a", 1, 0), chain(t, db, "gone", 1, 0)
	letter(t, db, stream, 2500, "d", "9 days")
	letter(t, db, stream, 1, "d", "11 days")
	letter(t, db, stream, 3, "r", "9 days")
	letter(t, db, stream, 4, "x", "9 days")
	letter(t, db, stream, 5, "r", "11 days")
	letter(t, db, gone, 6, "d", "9 days")
	j, log := job(db, "a")
	upkeep(t, db, j)
	want(t, "after the first run", left(t, db), "d 7, r 5, x 2500")
	if n := j.Expired.Load(); n != 2500 {
		t.Errorf("counted %d", n)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "closed=2500") {
		t.Errorf("%d warnings: %s", n, log)
	}
	want(t, "how they were closed", text(t, db, `SELECT DISTINCT resolved_by || ' ' || (expires_at - resolved_at BETWEEN interval '9 days' AND '9 days 1 minute') FROM idem_dead_letter WHERE state = 'x'`), "idemgen: keep is over true")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET expires_at = expires_at - interval '9 days 1 minute', created_at = created_at - interval '9 days 1 minute'`)
	upkeep(t, db, j)
	want(t, "after another nine days", left(t, db), "d 6, x 1")
}

// A letter that others wait behind, one that somebody asks about, and one without an end stay
// open.
func TestDeadLettersThatStayOpen(t *testing.T) {
	t.Parallel()
	db := database(t)
	stream := chain(t, db, "a", 1, 0)
	letter(t, db, stream, 3, "d", "9 days")
	letter(t, db, stream, 2, "w", "9 days")
	idemtest.Exec(t, db, `UPDATE idem_dead_letter SET parks = true WHERE state = 'd' AND offs = 1;
UPDATE idem_dead_letter SET expires_at = NULL WHERE offs = 2;
UPDATE idem_dead_letter SET asked = 'r' WHERE offs = 3`)
	j, _ := job(db, "a")
	upkeep(t, db, j)
	want(t, "left", left(t, db), "d 3, w 2")
}

// What operators did is known for a year, however soon the rows around it are removed.
func TestRowsOfOperatorsAreMoved(t *testing.T) {
	t.Parallel()
	db := database(t)
	stream := chain(t, db, "a", 3500, 3400)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET kind = 'o', writer = 'o' WHERE stream = $1::text::int AND seq = 13`, stream)
	idemtest.Exec(t, db, `UPDATE idem_ledger SET info = CASE seq WHEN 20 THEN 'operator ann: why' ELSE 'host, process 1' END, writer = CASE seq WHEN 20 THEN 'o'::"char" ELSE 'w' END WHERE stream = $1::text::int AND seq IN (20, 27)`, stream)
	idemtest.Exec(t, db, `INSERT INTO idem_operator (stream, seq, kind, prev, next, written_at, info)
SELECT $1::text::int, -n, 's', 0, 1, clock_timestamp() - n * interval '364 days', 'operator bob' FROM generate_series(1, 2) n`, stream)
	j, _ := job(db, "a")
	_ = j.Once(fault.With(t.Context(), func(string) error { return errCrash }))
	upkeep(t, db, j)
	want(t, "kept", text(t, db, `SELECT string_agg(seq || kind::text || coalesce(' ' || info, ''), ', ' ORDER BY seq) FROM idem_operator`), "-1s operator bob, 13o, 20f operator ann: why")
	want(t, "the ledger", rows(t, db, stream), "3400 3500 101")
}

// Locks are forgotten that nobody holds, of whatever consumer, and leases of others stay. One that
// is held, or was not long ago, keeps its number.
func TestLocksAreForgotten(t *testing.T) {
	t.Parallel()
	db := database(t)
	for key, of := range map[string]string{
		"01": "lock:a f 25 hours", "02": "lock:b p 25 hours", "03": "lock:a f 23 hours", "04": "lock:a p 23 hours", "05": "lock:a p -1 hours",
		"06": "lock p 25 hours", "07": "locker f 25 hours", "08": "lock:a d 25 hours",
	} {
		part := strings.SplitN(of, " ", 3)
		idemtest.Exec(t, db, `INSERT INTO idem_lease (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at)
VALUES ($1, ($2 || repeat('0', 30))::uuid, 0, 0, $3::text::"char", gen_random_uuid(), 1, 1, '1 minute', false, '1 day', clock_timestamp() - $4::text::interval)`, part[0], key, part[1], part[2])
	}
	j, _ := job(db, "other")
	upkeep(t, db, j)
	want(t, "left", text(t, db, `SELECT string_agg(substr(key::text, 1, 2), ' ' ORDER BY key) FROM idem_lease`), "03 04 05 06 07 08")
}
