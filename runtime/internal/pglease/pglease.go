// Package pglease stores leases in the table idem_lease of the service's own database. All
// decisions are in its statements. It must not import any package of this module but lease,
// ledger, pipeline, pool, session, verdict and wire.
package pglease

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Statements are prepared on every connection.
var Statements = []session.Statement{acquire, read, look, leap, extend, record, complete}

var (
	acquire  = session.NewStatement("lease_acquire", acquireSQL)
	read     = session.NewStatement("lease_read", readSQL)
	look     = session.NewStatement("lease_look", lookSQL)
	leap     = session.NewStatement("lease_leap", leapSQL)
	extend   = session.NewStatement("lease_extend", extendSQL)
	record   = session.NewStatement("lease_record", recordSQL)
	complete = session.NewStatement("lease_complete", completeSQL)
)

// Store is a [lease.Store] in Postgres.
type Store struct {
	Pool *pool.Pool
	Now  func() time.Time       // the process's clock, only ever compared with the database's
	id   atomic.Pointer[string] // of the database; nil until it has been read
}

const databaseSQL = `SELECT replace(id::text, '-', '') FROM idem_schema WHERE part = 'core' AND version = 1`

// Database returns the id of the database, 32 hexadecimal digits. A copy of the database has the
// same id.
func (s *Store) Database(ctx context.Context) (string, error) {
	if id := s.id.Load(); id != nil {
		return *id, nil
	}
	conn, err := s.Pool.Acquire(ctx, func(error) {})
	if err != nil {
		return "", err
	}
	defer conn.Release()
	var id string
	err = conn.QueryRow(ctx, databaseSQL, pgx.QueryExecModeExec).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) || verdict.Of(err) == verdict.Halting {
		return "", &lease.Broken{Err: fmt.Errorf("read the database's id from idem_schema: %w", verdict.Describe(err))}
	}
	if err == nil {
		s.id.Store(&id)
	}
	return id, err
}

// Acquire implements [lease.Store].
func (s *Store) Acquire(ctx context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	var take, look wire.Rows
	for i := range asks {
		a := &asks[i]
		take.Row()
		take.UUID(wire.UUID(a.Key))
		take.Int4(int32(a.Content.Def))
		take.Int4(int32(a.Content.Print))
		take.UUID(a.Owner)
		take.Int8(a.Term.Microseconds())
		take.Bool(a.Interrupts)
		take.Int8(a.Keep.Microseconds())
		take.Int8(a.Decision.Number)
		bytea(&take, a.Decision.Result)
		take.Text(a.Holder)
		take.Int8(a.Seen.Token)
		take.Time(time.UnixMicro(a.Seen.Mark))
		take.Int8(a.Seen.For.Microseconds())
		look.Row()
		look.UUID(wire.UUID(a.Key))
		look.UUID(a.Owner)
	}
	answers := make([]lease.Answer, len(asks))
	found := 0
	err := s.run(ctx, func(row [][]byte) error {
		n := int(binary.BigEndian.Uint64(row[0]))
		found++
		return answer(&answers[n-1], row)
	}, above(asks[0].Above), bound{acquire, s.timed(consumer, &take)}, bound{read, s.timed(consumer, &look)})
	if err == nil && found != len(asks) {
		err = &lease.Broken{Err: errors.New("rows of idem_lease that were just written are not there")}
	}
	return answers, err
}

// answer reads a row of readSQL.
func answer(a *lease.Answer, row [][]byte) error {
	a.State = lease.State(row[1][0])
	switch a.State {
	case lease.Processing, lease.Done, lease.Completed, lease.Failed, lease.Interrupted:
	default:
		return &lease.Broken{Err: fmt.Errorf("idem_lease has a row in state %q, which this version does not know", row[1])}
	}
	own := row[2][0] != 0
	a.Got = own && a.State == lease.Processing
	a.Content = lease.Content{Def: binary.BigEndian.Uint32(row[3]), Print: binary.BigEndian.Uint32(row[4])}
	a.Token = int64(binary.BigEndian.Uint64(row[5]))
	a.Attempts = int(int32(binary.BigEndian.Uint32(row[6])))
	a.Result = bytes.Clone(row[7])
	a.Error = string(row[8])
	a.Wait = max(0, time.Duration(int64(binary.BigEndian.Uint64(row[9])))*time.Microsecond)
	a.Holder = string(row[10])
	a.Mark = int64(binary.BigEndian.Uint64(row[11]))
	a.Apart = time.Duration(int64(binary.BigEndian.Uint64(row[12]))) * time.Microsecond
	return nil
}

// above makes the next token that is drawn greater than known.
func above(known int64) bound { return bound{leap, [][]byte{ledger.Int8(known)}} }

// Look draws a token for each key, which exceeds all earlier ones and known, and reports which of
// the keys have a lease here. Several keys may get the same token. It is for leases in another
// store.
func (s *Store) Look(ctx context.Context, consumer string, keys []wire.Key, known int64) (tokens []int64, here []bool, err error) {
	var rows wire.Rows
	for _, key := range keys {
		rows.Row()
		rows.UUID(wire.UUID(key))
	}
	tokens, here = make([]int64, len(keys)), make([]bool, len(keys))
	err = s.run(ctx, func(row [][]byte) error {
		n := binary.BigEndian.Uint64(row[0]) - 1
		tokens[n], here[n] = int64(binary.BigEndian.Uint64(row[1])), row[2][0] != 0
		return nil
	}, above(known), bound{look, arguments(consumer, &rows)})
	return tokens, here, err
}

// Extend implements [lease.Store].
func (s *Store) Extend(ctx context.Context, consumer string, held []lease.Hold) ([]bool, error) {
	var rows wire.Rows
	for i := range held {
		hold(&rows, &held[i])
	}
	return s.which(ctx, len(held), bound{extend, s.timed(consumer, &rows)})
}

// Record implements [lease.Store].
func (s *Store) Record(ctx context.Context, consumer string, ends []lease.End) ([]bool, error) {
	var rows wire.Rows
	for i := range ends {
		e := &ends[i]
		hold(&rows, &e.Hold)
		rows.Text(string(rune(e.State)))
		bytea(&rows, e.Result)
		rows.Text(e.Error)
		rows.Int8(e.Pause.Microseconds())
		rows.Int4(int32(e.Attempts))
	}
	return s.which(ctx, len(ends), bound{record, s.timed(consumer, &rows)})
}

// bytea adds bytes; nil is NULL.
func bytea(rows *wire.Rows, b []byte) {
	if b == nil {
		rows.Null(rows.Bytea)
		return
	}
	rows.Bytea(b)
}

func hold(rows *wire.Rows, h *lease.Hold) {
	rows.Row()
	rows.UUID(wire.UUID(h.Key))
	rows.UUID(h.Owner)
	rows.Int8(h.Token)
}

// Complete returns the statements of the ledger's transaction that complete leases, identified by
// key and token; none if there are no leases.
func (s *Store) Complete(consumer string, done []lease.Hold) []pipeline.Statement {
	if len(done) == 0 {
		return nil
	}
	var rows wire.Rows
	for i := range done {
		rows.Row()
		rows.UUID(wire.UUID(done[i].Key))
		rows.Int8(done[i].Token)
	}
	return []pipeline.Statement{{Is: complete, Args: s.timed(consumer, &rows)}}
}

func arguments(consumer string, rows *wire.Rows) [][]byte {
	return rows.Seal([][]byte{[]byte(consumer)})
}

// epoch is the time from which Postgres counts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timed returns arguments with the process's time as the second one.
func (s *Store) timed(consumer string, rows *wire.Rows) [][]byte {
	now := binary.BigEndian.AppendUint64(nil, uint64(s.Now().Sub(epoch).Microseconds()))
	return rows.Seal([][]byte{[]byte(consumer), now})
}

// which runs a statement that returns the numbers of elements, from 1.
func (s *Store) which(ctx context.Context, n int, st bound) ([]bool, error) {
	is := make([]bool, n)
	err := s.run(ctx, func(row [][]byte) error {
		is[binary.BigEndian.Uint64(row[0])-1] = true
		return nil
	}, st)
	return is, err
}

// bound is a statement with its arguments.
type bound struct {
	is   session.Statement
	args [][]byte
}

var binaryFormat = []int16{1}

// run runs statements as one transaction, in one round trip.
func (s *Store) run(ctx context.Context, row func([][]byte) error, statements ...bound) error {
	conn, err := s.Pool.Acquire(ctx, func(error) {})
	if err != nil {
		return err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	own := session.Of(pg)
	p := pg.StartPipeline(ctx)
	p.SendQueryPrepared(own.Name(session.ByIndex), nil, nil, nil)
	for _, st := range statements {
		p.SendQueryPrepared(own.Name(st.is), st.args, binaryFormat, binaryFormat)
	}
	if err = p.Sync(); err == nil {
		err = rows(p, func([][]byte) error { return nil })
	}
	for range statements {
		if err != nil {
			break
		}
		err = rows(p, row)
	}
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err == nil && session.Unreplicated(pg) {
		err = verdict.ErrUnreplicated
	}
	if verdict.Of(err) == verdict.Doubt {
		s.Pool.Doubt()
	}
	if verdict.Of(err) == verdict.Halting || verdict.Of(err) == verdict.Data { // no value of a record is in it
		return &lease.Broken{Err: verdict.Describe(err)}
	}
	return err
}

// rows reads what one statement returns.
func rows(p *pgconn.Pipeline, row func([][]byte) error) error {
	res, err := p.GetResults()
	if err != nil {
		return err
	}
	r, ok := res.(*pgconn.ResultReader)
	if !ok {
		return fmt.Errorf("idem: unexpected %T in a pipeline", res)
	}
	for r.NextRow() && err == nil {
		err = row(r.Values())
	}
	_, closeErr := r.Close()
	return errors.Join(err, closeErr)
}
