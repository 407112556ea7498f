package keys

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// loadRows is how many rows of the chain one statement of a load reads: a long window then
// stays below the session's statement_timeout.
const loadRows = 1000

// measureRows is how many rows are measured, for the same reason. If all of them are old,
// the batches to come move the window on.
const measureRows = 20_000

var chainKeys = session.NewStatement("chain_keys", ledger.KeysSQL)

// Statements are prepared on every connection.
var Statements = []session.Statement{chainKeys}

var binaryFormat = []int16{1}

// InChain reports whether the topic has keys in the chain, which must be loaded.
func (m *Memory) InChain() bool { return m.chain != nil }

// Measure says where the window begins, before the partition is taken over. If the keys from
// there on do not fit into the memory, it fails, and the previous owner is not fenced.
func (m *Memory) Measure(ctx context.Context, conn *pgx.Conn, stream int32, tail ledger.Tail) (window int64, err error) {
	if m.chain == nil {
		return m.Window(tail), nil
	}
	var now time.Time
	var last int64
	var first *int64
	var young, all int
	sent := m.process.Now()
	if err := conn.QueryRow(ctx, ledger.MeasureSQL, stream, tail.Window, m.window, measureRows).Scan(&now, &last, &first, &young, &all); err != nil {
		return 0, err
	}
	m.Heard(now, sent)
	window = last + 1
	switch {
	case !m.clock.agrees:
		window, young = tail.Window, all
	case first != nil:
		window = *first
	}
	m.replace()
	if !m.process.Budget.Fits(young / keyset.EntryBytes) {
		return 0, m.full()
	}
	return window, nil
}

// Load builds the memory from the chain, up to the owner's fence, in parts that may take so long
// each: the server may be gone without a word. If somebody appended after the fence, the owner's
// next append is refused.
func (m *Memory) Load(ctx context.Context, conn *pgconn.PgConn, stream int32, tail ledger.Tail, most time.Duration) error {
	start := time.Now()
	for from := tail.Window; ; {
		part, cancel := context.WithTimeout(ctx, most)
		n, last, err := m.loadPart(part, conn, stream, from, tail.Seq)
		cancel()
		if ctx.Err() != nil { // the server says only that the statement was cancelled
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if n < loadRows {
			break
		}
		from = last + 1
	}
	m.chain.Loaded()
	m.process.Log.Info("the keys of a partition were loaded", "topic", m.partition.Topic, "partition", m.partition.Number,
		"keys", m.chain.Len(), "from_seq", tail.Window, "to_seq", tail.Seq, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// loadPart loads the first rows with keys from a row on.
func (m *Memory) loadPart(ctx context.Context, conn *pgconn.PgConn, stream int32, from, to int64) (n int, last int64, err error) {
	args := [][]byte{ledger.Int4(stream), ledger.Int8(from), ledger.Int8(to), ledger.Int8(loadRows)}
	rows := conn.ExecPrepared(ctx, session.Of(conn).Name(chainKeys), args, binaryFormat, binaryFormat)
	fits := true
	for fits && rows.NextRow() {
		v := rows.Values()
		last = int64(binary.BigEndian.Uint64(v[0]))
		fits = m.chain.Load(keyset.Row{
			Seq: last, Written: ledger.Time(v[1]), Keys: v[2], Defs: v[3],
		})
		n++
	}
	_, err = rows.Close()
	if err == nil && !fits {
		err = m.full()
	}
	return n, last, err
}
