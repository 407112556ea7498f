package pglease

import (
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// eraseLeasesSQL erases results and errors of leases of record keys: in the stream of the event
// that erases up to that event, in other streams of the record key's topics what their ledgers
// passed, and what became of a dead letter's effect. What was done is known as done still, so that
// nothing is called again. A call that was cut off, or that a dead letter's replay makes now, is
// taken from its holder, who would record a result.
const eraseLeasesSQL = `
WITH found AS (
    SELECT l.lease, e.by
    FROM (SELECT * FROM unnest($4::uuid[], $5::bigint[], $6::text[]) AS e (order_key, offs, by) ORDER BY order_key) e
    CROSS JOIN LATERAL (
        SELECT l AS lease FROM idem_lease l
        WHERE l.consumer = $1 AND l.order_key = e.order_key
            AND (l.state = 'p' OR l.state <> 'e' AND (l.result IS NOT NULL OR l.error <> ''))
            AND EXISTS (SELECT FROM idem_stream s WHERE s.stream = l.stream AND s.consumer = $1 AND s.topic ~ $2)
            AND CASE WHEN l.stream = $3::int THEN l.offs <= e.offs
                ELSE l.state IN ('c', 'f', 'i') OR l.state IN ('d', 'p') AND EXISTS (SELECT FROM idem_dead_letter d WHERE d.stream = l.stream AND d.offs = l.offs) END
        ORDER BY l.key FOR UPDATE
    ) l
)
INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at, error)
SELECT $1, (lease).key, (lease).def, (lease).fp,
    CASE WHEN (lease).state = 'p' THEN 'i' WHEN (lease).result IS NOT NULL THEN 'e' ELSE (lease).state END,
    (lease).owner, (lease).fence, (lease).attempts, (lease).term, (lease).interrupts, (lease).keep, (lease).expires_at, 'erased by ' || by
FROM found
ON CONFLICT (consumer, key) DO UPDATE SET
    state = excluded.state, error = excluded.error, result = NULL, changed_at = clock_timestamp(), forget_at = clock_timestamp() + l.keep`

var erase = session.NewStatement("lease_erase", eraseLeasesSQL)

// Erase is the statement of the ledger's transaction that erases leases of record keys. of says
// which: consumer, expression for topics, stream, and of each record key its hash, the offset of
// the event that erases, and the name of that event's record.
func (s *Store) Erase(of [][]byte) pipeline.Statement {
	return pipeline.Statement{Is: erase, Args: of}
}

// trace adds by what a lease is found when its result is to be erased.
func trace(rows *wire.Rows, t *lease.Trace) {
	var stream *int32
	var offset *int64
	var key *wire.UUID
	if t != nil {
		stream, offset, key = &t.Stream, &t.Offset, &t.OrderKey
	}
	wire.OrNull(rows, rows.Int4, stream)
	wire.OrNull(rows, rows.Int8, offset)
	wire.OrNull(rows, rows.UUID, key)
}
