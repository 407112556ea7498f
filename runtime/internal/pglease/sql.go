package pglease

// A lease is changed only by a statement that finds it as its owner and token say. All times are
// clock_timestamp(): now() is when a transaction began, which may have waited since. Rows are
// locked in the order of their keys.
//
// Each key is looked for by itself, in a LATERAL that Postgres cannot turn into a join because it
// locks or has an OFFSET, and rows that were locked are changed by ON CONFLICT, which goes to the
// row by its key. A plan is kept as long as a connection; one made while the table was empty would
// else read all leases of the consumer for ever.
const (
	// acquireSQL takes what can be had. The new token is drawn when the row is locked, so that it
	// is greater than the one before. Whose lease ended before the call did is asked with what
	// that call's event said, not with what this one's says. A person's decision is about numbers
	// that are smaller than its own, and one with a result makes no call.
	acquireSQL = `
INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, forget_at,
    decision, result, holder)
SELECT $1, a.key, a.def, a.fp, CASE WHEN a.result IS NULL THEN 'p'::"char" ELSE 'd' END, a.owner, nextval('idem_fence'),
       CASE WHEN a.result IS NULL THEN 1 ELSE 0 END, a.term * interval '1 microsecond', a.interrupts,
       a.keep * interval '1 microsecond', clock_timestamp() + a.term * interval '1 microsecond',
       CASE WHEN a.result IS NOT NULL THEN clock_timestamp() + a.keep * interval '1 microsecond' END,
       nullif(a.decision, 0), a.result, a.holder
FROM unnest($2::uuid[], $3::int[], $4::int[], $5::uuid[], $6::bigint[], $7::boolean[], $8::bigint[], $9::bigint[], $10::bytea[], $11::text[])
    AS a (key, def, fp, owner, term, interrupts, keep, decision, result, holder)
ORDER BY a.key
ON CONFLICT (consumer, key) DO UPDATE SET
    def = excluded.def, fp = excluded.fp, owner = excluded.owner, fence = nextval('idem_fence'),
    state = CASE WHEN excluded.result IS NOT NULL THEN 'd'::"char" WHEN l.state = 'p' AND l.interrupts AND l.owner <> excluded.owner THEN 'i' ELSE 'p' END,
    attempts = CASE WHEN excluded.result IS NOT NULL OR l.state = 'p' AND (l.interrupts OR l.owner = excluded.owner) THEN l.attempts
                    WHEN l.state IN ('f', 'i') AND excluded.decision > l.fence THEN 1 ELSE l.attempts + 1 END,
    error = CASE WHEN excluded.result IS NOT NULL THEN NULL
                 WHEN l.state = 'p' AND l.interrupts AND l.owner <> excluded.owner THEN 'the lease ended before the call did' ELSE l.error END,
    term = excluded.term, interrupts = excluded.interrupts, keep = excluded.keep, decision = excluded.decision, result = excluded.result,
    expires_at = clock_timestamp() + excluded.term, changed_at = clock_timestamp(), forget_at = excluded.forget_at, holder = excluded.holder
WHERE CASE l.state
    WHEN 'f' THEN l.expires_at <= clock_timestamp() OR excluded.decision > l.fence OR excluded.result IS NOT NULL
    WHEN 'p' THEN l.expires_at <= clock_timestamp() AND (l.def <> excluded.def OR l.fp = excluded.fp)
    WHEN 'i' THEN (excluded.decision > l.fence OR excluded.result IS NOT NULL) AND (l.def <> excluded.def OR l.fp = excluded.fp)
    ELSE false END`

	// readSQL tells what the leases are now. The owner names one try: whose name is in the row has
	// the lease, also if the answer to an earlier statement was lost.
	readSQL = `
SELECT a.n, l.state, l.owner = a.owner, l.def, l.fp, l.fence, l.attempts, l.result, l.error,
       (extract(epoch FROM l.expires_at - clock_timestamp()) * 1000000)::bigint, l.holder
FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS a (key, owner, n)
CROSS JOIN LATERAL (SELECT * FROM idem_lease WHERE consumer = $1 AND key = a.key OFFSET 0) l`

	// lookSQL draws a number for the keys that may have their lease in another store, past those
	// that are left out for a key, and tells which keys have a row here all the same. One number
	// does for all of them, since each key's must grow by itself; then few of these statements
	// write anything that must reach the disk.
	lookSQL = `
WITH drawn AS MATERIALIZED (SELECT nextval('idem_fence') AS fence)
SELECT a.n, CASE WHEN a.skip = 0 THEN drawn.fence ELSE (SELECT max(nextval('idem_fence')) FROM generate_series(1, a.skip)) END,
       (SELECT true FROM idem_lease l WHERE l.consumer = $1 AND l.key = a.key) IS NOT NULL
FROM drawn, unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS a (key, skip, n)`

	extendSQL = `
WITH held AS (
    SELECT a.n, l.lease
    FROM (SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::bigint[]) WITH ORDINALITY AS a (key, owner, fence, n) ORDER BY key) a
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.key = a.key AND l.owner = a.owner AND l.fence = a.fence AND l.state = 'p'
        FOR UPDATE
    ) l
), extended AS (
    INSERT INTO idem_lease AS l SELECT (lease).* FROM held
    ON CONFLICT (consumer, key) DO UPDATE SET expires_at = clock_timestamp() + l.term
)
SELECT n FROM held`

	// recordSQL finds a row also in the state that it would give it: the answer to an earlier
	// statement was lost. Then nothing of the row changes.
	recordSQL = `
WITH held AS (
    SELECT a.*, l.lease
    FROM (SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[], $7::text[], $8::bigint[], $9::int[])
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
        owner, fence, attempts, (lease).term, (lease).interrupts, (lease).keep, clock_timestamp() + pause * interval '1 microsecond',
        result, error
    FROM held WHERE (lease).state = 'p'
    ON CONFLICT (consumer, key) DO UPDATE SET
        state = excluded.state, result = excluded.result, error = excluded.error, attempts = excluded.attempts,
        expires_at = excluded.expires_at, changed_at = clock_timestamp(), forget_at = clock_timestamp() + l.keep
)
SELECT n FROM held`

	// completeSQL is part of the transaction that passes the events. It is refused (23514 on
	// idem_assert) unless every lease is done, and its result is the one of the token. The state is
	// compared as a text: else the index of what is over would do, which knows no keys.
	completeSQL = `
WITH done AS (
    SELECT l.lease
    FROM (SELECT * FROM unnest($2::uuid[], $3::bigint[]) AS a (key, fence) ORDER BY key) a
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.key = a.key AND l.fence = a.fence AND l.state::text IN ('d', 'c')
        FOR UPDATE
    ) l
), completed AS (
    INSERT INTO idem_lease AS l SELECT (lease).* FROM done
    ON CONFLICT (consumer, key) DO UPDATE SET state = 'c', changed_at = clock_timestamp(), forget_at = clock_timestamp() + l.keep
    RETURNING l.key
)
INSERT INTO idem_assert (what) SELECT 'lease' WHERE (SELECT count(*) FROM completed) <> cardinality($2::uuid[])`
)
