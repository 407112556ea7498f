// Package generation implements the store of keys that all partitions of a consumer share
// (docs/protocol.md, keys anywhere): the list of generations, lookups of claimed keys, filters in
// memory for sealed generations, and the creation, sealing and dropping of generations. It must
// not import any package of this module but ledger, backoff, bloom, fault, session and wire.
package generation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Generation is one partition of idem_keys.
type Generation struct {
	Number int32
	Token  wire.UUID // identifies the generation in a claim
	Open   bool      // keys are claimed in it; otherwise nothing is ever added to it
	Seal   wire.UUID // identifies the content of a sealed generation
	flaw   flaw      // of its table; "" if there is none
}

// List contains the generations of a consumer, the open one last, as seen by one statement.
//
// A list stays correct as long as its open generation accepts claims. The seal of a generation,
// the row of the next one and the next one's token are written in one transaction. So a statement
// that sees token T as open sees every generation before it as sealed, with all its keys, because
// the seal waited for every claim in flight. A claim that names T fails once T is sealed (23514).
// It also fails after a failover that undid the seal that opened T (23502).
//
// So a list is only outdated by generations that have been dropped since. If a table of one of
// them is reused, it has keys of other consumers, which never equal ours, or it is reused only
// after T was sealed. A claim always ends before its table is reused: see [Expired].
type List []Generation

// Open returns the generation in which keys are claimed. It reports false if there is none.
func (l List) Open() (Generation, bool) {
	if n := len(l); n > 0 && l[n-1].Open {
		return l[n-1], true
	}
	return Generation{}, false
}

// Numbers returns the numbers of all generations.
func (l List) Numbers() []int32 {
	var all []int32
	for _, g := range l {
		all = append(all, g.Number)
	}
	return all
}

// name identifies the content of a sealed generation. The seal created the name, so it proves that
// this content was sealed, even after a failover, and even if the table is reused.
func (g Generation) name() (wire.UUID, bool) { return g.Seal, !g.Open }

// sealed returns the sealed generations by their names.
func (l List) sealed() map[wire.UUID]int32 {
	all := map[wire.UUID]int32{}
	for _, g := range l {
		if name, ok := g.name(); ok {
			all[name] = g.Number
		}
	}
	return all
}

// Claim claims keys.
var Claim = session.NewStatement("claim", claimSQL)

var (
	list  = session.NewStatement("generations", listSQL)
	known = session.NewStatement("known_keys", knownSQL)
)

// Statements are prepared on every connection that claims keys.
var Statements = []session.Statement{list, known, Claim}

const (
	listSQL = `
SELECT g.gen, g.token, coalesce(g.seal, g.token), g.sealed_at IS NULL, CASE WHEN t.inhrelid IS NULL THEN 'missing'
    WHEN NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = t.inhrelid AND x.indisprimary AND x.indimmediate) THEN 'keyless'
    WHEN g.sealed_at IS NULL AND EXISTS (SELECT FROM pg_trigger x WHERE x.tgrelid = t.inhrelid AND x.tgname = 'idem_keys_sealed' AND x.tgenabled <> 'D') THEN 'closed'
    ELSE '' END
FROM idem_key_gen g LEFT JOIN (SELECT i.inhrelid, c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'idem_keys'::regclass) t
    ON t.relname = format('idem_keys_%s', g.gen)
WHERE g.consumer = $1 ORDER BY g.sealed_at NULLS LAST`

	// knownSQL looks up which keys were claimed before in one generation. With an array of
	// generations, a cached plan would probe all generations, including those of other consumers.
	knownSQL = `
SELECT key, gen, def, fp, stream, seq, (SELECT s.topic || '/' || s.partition FROM idem_stream s WHERE s.stream = k.stream)
FROM idem_keys k WHERE gen = $1::int AND key = ANY ($2::uuid[])`

	// claimSQL claims sorted keys in the open generation, identified by its token. If the
	// generation is not ours, gen is NULL, and the statement fails.
	claimSQL = `
INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT (SELECT gen FROM idem_key_gen WHERE gen = $1 AND token = $2), k, d, f, $3::int, $4::bigint
FROM unnest($5::uuid[], $6::int[], $7::int[]) AS u (k, d, f)`

	// ReleaseSQL undoes claims of this transaction, before it commits. It fails (23514 on
	// idem_assert) if one of them does not exist. It is not prepared, because a generic plan would
	// lock the tables of all generations.
	ReleaseSQL = `
WITH own AS (
    DELETE FROM idem_keys WHERE gen = $1::int AND stream = $2::int AND seq = $3::bigint AND key = ANY ($4::uuid[]) RETURNING key
)
INSERT INTO idem_assert (what) SELECT 'claims' WHERE (SELECT count(*) FROM own) <> cardinality($4::uuid[])`
)

var binaryFormat = []int16{1}

// listed is the key under which a connection stores the list that was read on it.
const listed = "idemgen: generations of keys"

// Listed returns the list that was read on this connection, if there is one. A list is never used
// on another connection, which may lead to another server.
func Listed(conn *pgx.Conn) (List, bool) {
	l, ok := conn.PgConn().CustomData()[listed].(List)
	return l, ok
}

// Read reads the consumer's generations, and stores the list for later batches on this connection,
// on which the statements must be prepared.
func Read(ctx context.Context, conn *pgx.Conn, consumer string) (List, error) {
	var l List
	res := conn.PgConn().ExecPrepared(ctx, session.Of(conn.PgConn()).Name(list), [][]byte{[]byte(consumer)}, binaryFormat, binaryFormat)
	for res.NextRow() {
		row := res.Values()
		l = append(l, Generation{Number: int32(binary.BigEndian.Uint32(row[0])), Token: wire.UUID(row[1]), Seal: wire.UUID(row[2]), Open: row[3][0] != 0, flaw: flaw(row[4])})
	}
	if _, err := res.Close(); err != nil {
		delete(conn.PgConn().CustomData(), listed)
		return nil, err
	}
	conn.PgConn().CustomData()[listed] = l
	return l, nil
}

// Hit is a key that was claimed before.
type Hit struct {
	Key    wire.Key
	Number int32 // of the generation
	Prior  wire.Prior
	Stream int32 // of the first copy
	Seq    int64
	Place  string // the stream's topic and partition; "" if it is gone
}

// Known looks up which keys were claimed before in some generations, in one round trip.
func Known(ctx context.Context, conn *pgx.Conn, numbers []int32, keys []wire.Key) (all []Hit, err error) {
	var asked wire.Rows
	for _, k := range keys {
		asked.Row().UUID(wire.UUID(k))
	}
	array := asked.Seal(nil)[0]
	p := conn.PgConn().StartPipeline(ctx)
	p.SendQueryPrepared(session.Of(conn.PgConn()).Name(session.ByIndex), nil, nil, nil)
	for _, n := range numbers {
		args := [][]byte{binary.BigEndian.AppendUint32(nil, uint32(n)), array}
		p.SendQueryPrepared(session.Of(conn.PgConn()).Name(known), args, binaryFormat, binaryFormat)
	}
	if err = p.Sync(); err == nil {
		err = passed(p)
	}
	for i := 0; i < len(numbers) && err == nil; i++ {
		all, err = hits(all, p)
	}
	return all, errors.Join(err, p.Close())
}

// passed reads the result of a statement whose rows are not needed.
func passed(p *pgconn.Pipeline) error {
	got, err := p.GetResults()
	if r, ok := got.(*pgconn.ResultReader); ok {
		_, err = r.Close()
	}
	return err
}

// hits reads the result of one statement.
func hits(all []Hit, p *pgconn.Pipeline) ([]Hit, error) {
	got, err := p.GetResults()
	if err != nil {
		return nil, err
	}
	res, ok := got.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("idem: expected rows, got %T", got)
	}
	for res.NextRow() {
		row := res.Values()
		all = append(all, Hit{
			Key: wire.Key(row[0]), Number: int32(binary.BigEndian.Uint32(row[1])),
			Prior:  wire.Prior{Def: binary.BigEndian.Uint32(row[2]), Print: binary.BigEndian.Uint32(row[3])},
			Stream: int32(binary.BigEndian.Uint32(row[4])), Seq: int64(binary.BigEndian.Uint64(row[5])), Place: string(row[6]),
		})
	}
	_, err = res.Close()
	return all, err
}
