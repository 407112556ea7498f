package idem

// The ledger's statements (PROTOCOL 4). Their text never varies with data. Each is
// prepared under its name when a connection is opened.
const (
	// appendSQL is the append of every kind but genesis. There is always exactly one
	// candidate row. If the predecessor is not there with our token and position, prev is
	// NULL and the row is refused (23502); if somebody stands at our seq, the primary key
	// refuses (23505). Plain INSERT: the outcome is the same at every isolation level.
	appendSQL = `
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info)
SELECT $1::int, $2::bigint + 1, $4::uuid, p.next, $6::bigint, $7::"char", $8::int, coalesce($9::int, p.def), coalesce($10::int, p.parts),
       greatest(p.window_seq, $11::bigint), $12::text
FROM (SELECT) AS one
LEFT JOIN idem_ledger p ON p.stream = $1 AND p.seq = $2 AND p.token = $3::uuid AND p.next = $5::bigint`

	streamsSQL = `
SELECT stream, topic_id, partition FROM idem_stream WHERE consumer = $1 AND topic = $2 ORDER BY stream`

	// genesisSQL makes stream and first row in one statement, so that a late one cannot
	// start a second chain.
	genesisSQL = `
WITH s AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition) VALUES ($1, $2, $3, $4) RETURNING stream)
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info)
SELECT stream, 0, $5::uuid, $6::bigint, $6::bigint, 'g', -1, $7::int, $8::int, 0, $9::text FROM s
RETURNING stream`

	tailSQL = `
SELECT seq, token, next, epoch, def, parts FROM idem_ledger WHERE stream = $1 ORDER BY seq DESC LIMIT 1`

	rowSQL = `
SELECT token, next FROM idem_ledger WHERE stream = $1 AND seq = $2`

	deadLetterSQL = `
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, sqlstate, key, fp, record)
SELECT $1::int, offs, $2::bigint, 'd', reason, sqlstate, key, fp, record
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::uuid[], $7::int[], $8::bytea[]) AS d (offs, reason, sqlstate, key, fp, record)`

	// openGenerationSQL finds the generation of keys that the consumer claims into.
	openGenerationSQL = `
SELECT gen, token FROM idem_key_gen WHERE consumer = $1 AND sealed_at IS NULL ORDER BY gen DESC LIMIT 1`

	// knownKeysSQL reads which keys were claimed before. The generations come in as an
	// array so that only their partitions are probed.
	knownKeysSQL = `
SELECT key, def, fp, stream, seq FROM idem_keys
WHERE gen = ANY (ARRAY(SELECT gen FROM idem_key_gen WHERE consumer = $1)) AND key = ANY ($2::uuid[])`

	// claimSQL claims sorted keys in the open generation, named by its token; a generation
	// that is not ours makes gen NULL, which is refused.
	claimSQL = `
INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT (SELECT gen FROM idem_key_gen WHERE gen = $1 AND token = $2), k, $3::int, f, $4::int, $5::bigint
FROM unnest($6::uuid[], $7::int[]) AS u (k, f)`

	commitSQL = `COMMIT`
)

// prepared are the runtime's statements by name.
var prepared = []struct{ name, sql string }{
	{"idem_append", appendSQL},
	{"idem_dead_letter", deadLetterSQL},
	{"idem_open_generation", openGenerationSQL},
	{"idem_known_keys", knownKeysSQL},
	{"idem_claim", claimSQL},
}
