package pglease

import "github.com/idemgen/idemgen/internal/ledger"

// A statement changes a lease only if owner and token match. The database's times are
// clock_timestamp(), because now() is the time when the transaction began, which may have waited
// since. Rows are locked in the order of their keys.
//
// $2 is the time by the clock of the process, read before the statement is sent. A lease ends by
// the database's clock only while the two clocks agree, and lasts from the later of the two times.
// So a live holder loses no lease to a clock that jumps and returns. Otherwise a lease ends once
// the caller has seen it unchanged for its whole term.
//
// Each key is looked up separately, in a LATERAL that Postgres cannot turn into a join because it
// locks rows or has an OFFSET. Locked rows are changed with ON CONFLICT, which finds the row by
// its key. Without this, a cached plan that was made while the table was empty would read all
// leases of the consumer for the lifetime of the connection.
const (
	// agreeSQL reports whether the clocks agree. A holder extends its lease when a third of the
	// term is over. If the clocks agreed within a third before and after a jump, it was at most two
	// thirds, so the lease of a live holder has not ended. The term of an effect is 30 seconds.
	agreeSQL = `clock_timestamp() BETWEEN $2::timestamptz - interval '10 seconds' AND $2::timestamptz + interval '10 seconds'`

	// laterSQL is the start of a lease or pause, and of the time for which an outcome is kept.
	laterSQL = `greatest(clock_timestamp(), $2::timestamptz)`

	// overSQL reports whether a lease or pause has ended. A pause of zero always has. While the
	// clocks disagree, a repeated ask of the holder, which has made no call, renews the lease.
	overSQL = `(l.term = interval '0' OR CASE WHEN ` + agreeSQL + ` THEN l.expires_at <= clock_timestamp()
            ELSE l.state = 'p' AND l.owner = excluded.owner END
        OR EXISTS (SELECT FROM unnest($3::uuid[], $13::bigint[], $14::timestamptz[], $15::bigint[]) AS s (key, fence, expires_at, seen)
            WHERE s.key = l.key AND s.fence = l.fence AND s.expires_at = l.expires_at AND s.seen * interval '1 microsecond' >= l.term))`

	// leapSQL moves the sequence of tokens past $1, the highest one that the process has seen, if a
	// restored database has forgotten it. It returns no rows.
	leapSQL = `SELECT FROM (` + ledger.LeapSQL + `) AS moved (n) WHERE n < 0`

	// acquireSQL acquires the leases that are available. The new token is drawn while the row is
	// locked, so it is greater than the previous one. Whether an expired lease becomes interrupted
	// depends on the setting of the event that acquired it, not on that of the new ask. An
	// operator's decision applies to tokens smaller than its number; a decision with a result
	// makes no call. A completed event's lease is available after its window, before the upkeep
	// deletes it: the event that asks is a new one.
	acquireSQL = `
INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, forget_at,
    decision, result, holder)
SELECT $1, a.key, a.def, a.fp, CASE WHEN a.result IS NULL THEN 'p'::"char" ELSE 'd' END, a.owner, nextval('idem_fence'),
       CASE WHEN a.result IS NULL THEN 1 ELSE 0 END, a.term * interval '1 microsecond', a.interrupts,
       a.keep * interval '1 microsecond', ` + laterSQL + ` + a.term * interval '1 microsecond',
       CASE WHEN a.result IS NOT NULL THEN ` + laterSQL + ` + a.keep * interval '1 microsecond' END,
       nullif(a.decision, 0), a.result, a.holder
FROM unnest($3::uuid[], $4::int[], $5::int[], $6::uuid[], $7::bigint[], $8::boolean[], $9::bigint[], $10::bigint[], $11::bytea[], $12::text[])
    AS a (key, def, fp, owner, term, interrupts, keep, decision, result, holder)
ORDER BY a.key
ON CONFLICT (consumer, key) DO UPDATE SET
    def = excluded.def, fp = excluded.fp, owner = excluded.owner, fence = nextval('idem_fence'),
    state = CASE WHEN excluded.result IS NOT NULL THEN 'd'::"char" WHEN l.state = 'p' AND l.interrupts AND l.owner <> excluded.owner THEN 'i' ELSE 'p' END,
    attempts = CASE WHEN excluded.result IS NOT NULL OR l.state = 'p' AND (l.interrupts OR l.owner = excluded.owner) THEN l.attempts
                    WHEN l.state = 'c' OR l.state IN ('f', 'i') AND excluded.decision > l.fence THEN 1 ELSE l.attempts + 1 END,
    error = CASE WHEN excluded.result IS NOT NULL THEN NULL
                 WHEN l.state = 'p' AND l.interrupts AND l.owner <> excluded.owner THEN 'the lease ended before the call did' ELSE l.error END,
    term = excluded.term, interrupts = excluded.interrupts, keep = excluded.keep, decision = excluded.decision, result = excluded.result,
    expires_at = excluded.expires_at, changed_at = clock_timestamp(), forget_at = excluded.forget_at, holder = excluded.holder
WHERE CASE l.state
    WHEN 'c' THEN l.forget_at <= clock_timestamp() AND ` + agreeSQL + `
    WHEN 'f' THEN ` + overSQL + ` OR excluded.decision > l.fence OR excluded.result IS NOT NULL
    WHEN 'p' THEN ` + overSQL + ` AND (l.def <> excluded.def OR l.fp = excluded.fp)
    WHEN 'i' THEN (excluded.decision > l.fence OR excluded.result IS NOT NULL) AND (l.def <> excluded.def OR l.fp = excluded.fp)
    ELSE false END`

	// readSQL returns the current leases. An owner identifies one attempt: the attempt whose owner
	// is in the row has the lease, even if the reply to an earlier statement was lost. No lease or
	// pause lasts longer than its term. The last column is by how much the database's clock is
	// ahead of the process's; 0 if they agree.
	readSQL = `
SELECT a.n, l.state, l.owner = a.owner, l.def, l.fp, l.fence, l.attempts, l.result, l.error,
       (extract(epoch FROM CASE WHEN ` + agreeSQL + ` THEN least(l.expires_at - clock_timestamp(), l.term) ELSE l.term END) * 1000000)::bigint,
       l.holder, (extract(epoch FROM l.expires_at) * 1000000)::bigint,
       CASE WHEN ` + agreeSQL + ` THEN 0 ELSE (extract(epoch FROM clock_timestamp() - $2::timestamptz) * 1000000)::bigint END
FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY AS a (key, owner, n)
CROSS JOIN LATERAL (SELECT * FROM idem_lease WHERE consumer = $1 AND key = a.key OFFSET 0) l`

	// lookSQL draws a token for keys whose lease may be in another store, and returns which keys
	// nevertheless have a row here. All keys share one token, because tokens need only increase per
	// key; so few of these statements write to the server's log.
	lookSQL = `
WITH drawn AS MATERIALIZED (SELECT nextval('idem_fence') AS fence)
SELECT a.n, drawn.fence, (SELECT true FROM idem_lease l WHERE l.consumer = $1 AND l.key = a.key) IS NOT NULL
FROM drawn, unnest($2::uuid[]) WITH ORDINALITY AS a (key, n)`

	extendSQL = `
WITH held AS (
    SELECT a.n, l.lease
    FROM (SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::bigint[]) WITH ORDINALITY AS a (key, owner, fence, n) ORDER BY key) a
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.key = a.key AND l.owner = a.owner AND l.fence = a.fence AND l.state = 'p'
        FOR UPDATE
    ) l
), extended AS (
    INSERT INTO idem_lease AS l SELECT (lease).* FROM held
    ON CONFLICT (consumer, key) DO UPDATE SET expires_at = ` + laterSQL + ` + l.term
)
SELECT n FROM held`

	// recordSQL also accepts a row that is already in the new state, because the reply to an
	// earlier statement was lost. The row is then not changed. The term of a failed call is its
	// pause, before whose end it is not forgotten.
	recordSQL = `
WITH held AS (
    SELECT a.*, l.lease
    FROM (SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::text[], $7::bytea[], $8::text[], $9::bigint[], $10::int[])
        WITH ORDINALITY AS a (key, owner, fence, state, result, error, pause, attempts, n) ORDER BY key) a
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.key = a.key AND l.owner = a.owner AND l.fence = a.fence
            AND l.state IN ('p', a.state::"char")
        FOR UPDATE
    ) l
), recorded AS (
    INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, result, error)
    SELECT $1, key, (lease).def, (lease).fp, state::"char",
        owner, fence, attempts, pause * interval '1 microsecond', (lease).interrupts, (lease).keep,
        ` + laterSQL + ` + pause * interval '1 microsecond', result, error
    FROM held WHERE (lease).state = 'p'
    ON CONFLICT (consumer, key) DO UPDATE SET
        state = excluded.state, result = excluded.result, error = excluded.error, attempts = excluded.attempts,
        term = excluded.term, expires_at = excluded.expires_at, changed_at = clock_timestamp(), forget_at = ` + laterSQL + ` + greatest(l.keep, excluded.term)
)
SELECT n FROM held`

	// completeSQL is part of the transaction that applies the events. It fails (23514 on
	// idem_assert) unless every lease is done, with the result of this token. The state is
	// compared as text, so that Postgres does not use the index on ended leases, which does not
	// contain keys.
	completeSQL = `
WITH done AS (
    SELECT l.lease
    FROM (SELECT * FROM unnest($3::uuid[], $4::bigint[]) AS a (key, fence) ORDER BY key) a
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.key = a.key AND l.fence = a.fence AND l.state::text IN ('d', 'c')
        FOR UPDATE
    ) l
), completed AS (
    INSERT INTO idem_lease AS l SELECT (lease).* FROM done
    ON CONFLICT (consumer, key) DO UPDATE SET state = 'c', changed_at = clock_timestamp(), forget_at = ` + laterSQL + ` + l.keep
    RETURNING l.key
)
INSERT INTO idem_assert (what) SELECT 'lease' WHERE (SELECT count(*) FROM completed) <> cardinality($3::uuid[])`
)
