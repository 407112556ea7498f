// Package ledger is the SQL of the chain (docs/protocol.md) and the form of its parameters, for
// the engine of a partition and for operators' commands in package operate. The text of a
// statement never varies with data. It decides nothing. It must not import any package of this
// module but wire.
package ledger

// Kinds of rows.
const (
	Genesis  = 'g'
	Fence    = 'f'
	Batch    = 'b'
	Letter   = 'l' // a dead letter was replayed or discarded
	Operator = 'o'
	Skip     = 's'
	Rewind   = 'r'
	Pause    = 'p' // a worker appends nothing after it: an operator's row ends the pause
)

// Writers of rows.
const (
	Worker   = 'w' // the partition's owner
	HandBack = 'h' // an owner that hands the partition back: a worker in STANDBY need not wait
	Person   = 'o' // an operator: workers that the row fenced come back at once, halted ones try again
)

const (
	// ToleranceSQL is how far the clocks of the database and of a process may be apart and still
	// agree.
	ToleranceSQL = `interval '5 minutes'`

	// AppendSQL is the append of every kind but genesis. There is always exactly one
	// candidate row. If the predecessor is not there with our token and position, prev is
	// NULL and the row is refused (23502); if there is a row at our seq, the primary key
	// refuses (23505).
	// Plain INSERT: the outcome is the same at every isolation level.
	//
	// A key is known for a window after the time of its row, so that time is never too early: if the
	// database's clock is behind the writer's ($18), it is the writer's, and it is not before that of
	// the row before. So keys are not too old once a clock that was behind is set right.
	AppendSQL = `
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, keys, info, key_defs, writer, letters, letters_from, written_at)
SELECT $1::int, $2::bigint + 1, $4::uuid, p.next, $6::bigint, $7::"char", $8::int, coalesce($11::int, p.def), coalesce($12::int, p.parts),
       greatest(p.window_seq, $9::bigint), $10::bytea, $13::text, $14::bytea, $15::"char", $16::int, $17::bigint,
       greatest(p.written_at, CASE WHEN $18::timestamptz > clock_timestamp() + ` + ToleranceSQL + ` THEN $18 ELSE clock_timestamp() END)
FROM (SELECT) AS one
LEFT JOIN idem_ledger p ON p.stream = $1 AND p.seq = $2 AND p.token = $3::uuid AND p.next = $5::bigint
RETURNING written_at, clock_timestamp()`

	// SameSQL is refused (23514 on idem_assert) unless the current transaction, and no other,
	// wrote the row.
	SameSQL = `
INSERT INTO idem_assert (what) SELECT 'transaction' WHERE NOT EXISTS (
  SELECT FROM idem_ledger WHERE stream = $1::int AND seq = $2::bigint AND token = $3::uuid AND xmin = pg_current_xact_id()::xid)`

	// OwnSQL is refused (22012) in the same cases. A transaction that is read-only can run it.
	OwnSQL = `
SELECT 1 / count(*) FROM idem_ledger WHERE stream = $1::int AND seq = $2::bigint AND token = $3::uuid AND xmin = pg_current_xact_id()::xid`

	// MayNotCommitSQL begins a transaction in which handlers run, after BEGIN. Until [MayCommitSQL]
	// every COMMIT of it is refused, by the trigger idem_ledger_commit.
	MayNotCommitSQL = `SET LOCAL idem.commit = 'no'`
	MayCommitSQL    = `SELECT pg_catalog.set_config('idem.commit', 'yes', true)`

	// ShortenSQL gives the row that this very transaction appended, and did not commit, another
	// token and end: of the records that it named, the last ones are left to the next row. It is
	// refused (23514 on idem_assert) if the row is not there.
	ShortenSQL = `
WITH own AS (
    UPDATE idem_ledger SET token = $4::uuid, next = $5::bigint, epoch = $6::int, keys = $7::bytea, letters = $8::int, key_defs = $9::bytea, letters_from = $10::bigint
    WHERE stream = $1::int AND seq = $2::bigint AND token = $3::uuid AND xmin = pg_current_xact_id()::xid RETURNING seq
)
INSERT INTO idem_assert (what) SELECT 'append' WHERE NOT EXISTS (SELECT FROM own)`

	// StreamsSQL lists the streams of a topic, also those of topics that had its name before,
	// and how many partitions it had when each began; 0 if that is not known.
	StreamsSQL = `SELECT stream, topic_id, partition, parts FROM idem_stream WHERE consumer = $1 AND topic = $2 ORDER BY stream`

	// StreamSQL finds one stream.
	StreamSQL = `
SELECT stream FROM idem_stream WHERE consumer = $1 AND topic = $2 AND topic_id = $3 AND partition = $4`

	// OthersSQL tells the least and the greatest number of partitions that the last rows of a
	// topic's other chains say; 0 and 0 if there are none.
	OthersSQL = `
SELECT coalesce(min(t.parts), 0), coalesce(max(t.parts), 0)
FROM idem_stream s CROSS JOIN LATERAL (SELECT parts FROM idem_ledger WHERE stream = s.stream ORDER BY seq DESC LIMIT 1) t
WHERE s.consumer = $1 AND s.topic = $2 AND s.topic_id = $3 AND s.partition <> $4`

	// LaterSQL reads the position of a stream, and whether the chain of the same partition of another
	// topic of this name has a later last row. An operator's row is later than those of the other
	// chains, whatever the clock says (FormerSQL).
	LaterSQL = `
WITH last AS (
    SELECT s.stream, t.next, t.written_at FROM idem_stream own JOIN idem_stream s USING (consumer, topic, partition)
    CROSS JOIN LATERAL (SELECT next, written_at FROM idem_ledger WHERE stream = s.stream ORDER BY seq DESC LIMIT 1) t
    WHERE own.stream = $1
)
SELECT own.next, EXISTS (SELECT FROM last WHERE last.written_at > own.written_at) FROM last own WHERE own.stream = $1`

	// GenesisSQL makes stream and first row in one statement, so that a late one cannot
	// start a second chain. It is refused (23502) if the number that it draws has rows already: of
	// streams that an older idem_stream does not know. The next one draws another number.
	GenesisSQL = `
WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition, parts) VALUES ($1, $2, $3, $4, $8) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info, writer, written_at)
SELECT stream, CASE WHEN EXISTS (SELECT FROM idem_ledger l WHERE l.stream = s.stream) OR EXISTS (SELECT FROM idem_operator o WHERE o.stream = s.stream)
           OR EXISTS (SELECT FROM idem_dead_letter d WHERE d.stream = s.stream) THEN NULL ELSE 0 END,
       $5::uuid, $6::bigint, $6::bigint, 'g', -1, $7::int, $8::int, 0, $9::text, $10::"char", greatest(clock_timestamp(),
           (SELECT max(t.written_at) + interval '1 microsecond' FROM idem_stream f
           CROSS JOIN LATERAL (SELECT written_at FROM idem_ledger l WHERE l.stream = f.stream ORDER BY seq DESC LIMIT 1) t
           WHERE f.consumer = $1 AND f.topic = $2 AND f.partition = $4)) FROM s
RETURNING stream`

	// StandingSQL reads what is known of a stream besides its rows: its id; which offsets a restore
	// or a failover took back, -1 and -1 if none; and the number below which operators' decisions are
	// older than that.
	StandingSQL = `
SELECT id, coalesce(lost_from, -1), coalesce(lost_to, -1), coalesce(lost_fence, 0) FROM idem_stream WHERE stream = $1`

	// LostSQL records that the commits of offsets $2 to $3 are gone, and that decisions below number
	// $4 are older than that, unless that is known: the mark that says so has no token above $5.
	LostSQL = `
UPDATE idem_stream SET lost_at = clock_timestamp(), lost_from = $2, lost_to = greatest(lost_to, $3), lost_fence = greatest(lost_fence, $4)
WHERE stream = $1 AND (lost_to IS NULL OR lost_from > $2 OR lost_to < $3 OR coalesce(lost_fence, 0) <= $5)`

	// TailsSQL reads the last rows of the partitions $4 of a topic.
	TailsSQL = `
SELECT s.partition, s.stream, s.id, t.seq, t.token, t.next
FROM idem_stream s CROSS JOIN LATERAL (SELECT seq, token, next FROM idem_ledger WHERE stream = s.stream ORDER BY seq DESC LIMIT 1) t
WHERE s.consumer = $1 AND s.topic = $2 AND s.topic_id = $3 AND s.partition = ANY ($4::int[])`

	// LeapSQL moves the sequence of fencing tokens past all that may have been drawn, if it is below
	// $1. It goes to the time, in microseconds since 1970. So it also passes the tokens that were
	// drawn after an earlier move that a restore took back: none are drawn faster than that, and no
	// move is ahead of the time. Only if the clock is behind, it passes $1 by more than other
	// processes may have drawn since. One session moves it at a time, because setval may go back.
	LeapSQL = `
WITH behind AS MATERIALIZED (SELECT WHERE coalesce(pg_catalog.pg_sequence_last_value('idem_fence'::regclass), 0) < $1::bigint),
alone AS MATERIALIZED (SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('idemgen fence', 0)) FROM behind)
SELECT pg_catalog.setval('idem_fence'::regclass, greatest((extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
    CASE WHEN extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000 < $1::bigint THEN $1::bigint + 1000000 END))
FROM alone WHERE coalesce(pg_catalog.pg_sequence_last_value('idem_fence'::regclass), 0) < $1::bigint`

	// DrawnSQL reads the last fencing token that was drawn.
	DrawnSQL = `SELECT coalesce(pg_catalog.pg_sequence_last_value('idem_fence'::regclass), 0)`

	// SeenSQL records the time up to which a partition has been read, by an owner whose tail is row
	// $3. It never goes back.
	SeenSQL = `
UPDATE idem_stream SET seen_at = $2 WHERE stream = $1 AND (seen_at IS NULL OR seen_at < $2)
    AND EXISTS (SELECT FROM idem_ledger WHERE stream = $1 AND seq = $3 AND token = $4)`

	// TailSQL reads a chain's last row.
	TailSQL = `
SELECT seq, token, next, kind, epoch, def, parts, window_seq, written_at, writer, coalesce(letters, 0), coalesce(letters_from, 0), coalesce(info, '')
FROM idem_ledger WHERE stream = $1 ORDER BY seq DESC LIMIT 1`

	// MeasureSQL tells, of at most $4 rows from row $2 on: what time it is; the last of them; the
	// first one younger than $3 at the time that the partition had been read up to, now if $5,
	// NULL if there is none; the bytes of keys from that one on; and of all. Sizes are read
	// without the keys.
	MeasureSQL = `
WITH part AS MATERIALIZED (
    SELECT seq, written_at, octet_length(keys) AS size FROM idem_ledger WHERE stream = $1 AND seq >= $2 ORDER BY seq LIMIT $4
), young AS (
    SELECT min(seq) AS first FROM part
    WHERE written_at > CASE WHEN $5::boolean THEN clock_timestamp()
        ELSE coalesce((SELECT seen_at FROM idem_stream WHERE stream = $1), '-infinity') END - $3::interval
)
SELECT clock_timestamp(), max(seq), first, coalesce(sum(size) FILTER (WHERE seq >= first), 0), coalesce(sum(size), 0)
FROM part, young GROUP BY first`

	// ClockSQL asks the database what time it is, and up to when a partition of the consumer has been
	// read at least; NULL if that is not known of any.
	ClockSQL = `SELECT clock_timestamp(), (SELECT max(seen_at) FROM idem_stream WHERE consumer = $1)`

	// KeysSQL reads the keys of the rows $2 to $3, at most $4 rows.
	KeysSQL = `
SELECT seq, written_at, keys, key_defs FROM idem_ledger
WHERE stream = $1 AND seq BETWEEN $2 AND $3 AND keys IS NOT NULL ORDER BY seq LIMIT $4`

	// SinceSQL reads what else than batches was appended after a row.
	SinceSQL = `
SELECT kind, writer FROM idem_ledger WHERE stream = $1 AND seq > $2 AND kind <> 'b' ORDER BY seq`

	// RowSQL reads the row in an append's place.
	RowSQL = `
SELECT token, kind, written_at, writer FROM idem_ledger WHERE stream = $1 AND seq = $2`
)
