package idem

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// statement is one prepared statement with its parameters in binary.
type statement struct {
	name string
	args [][]byte
}

var binaryFormat = []int16{1}

// send sends w: append, key claims, writes, dead letters. On the acknowledgement it moves
// forward; if a row of ours stands there already, it adopts that one.
func (o *owner) send(ctx context.Context, conn *pgxpool.Conn, w *work) (Result, error) {
	a := attempt{token: newToken(), next: w.next(), epoch: w.epoch(), result: w.result, letters: w.letters}
	o.attempts = append(o.attempts, a)
	err := o.sendAttempt(ctx, conn, w, &a)
	if err == nil {
		err = fault.At(ctx, fault.Reply)
	}
	switch {
	case err == nil:
		return o.settle(a), nil
	case isHandlerError(err):
		return Result{}, err
	}
	switch classify(err) {
	case classSuccessor:
		return o.resolve(ctx, conn)
	case classGone:
		return Result{}, o.fenced("the ledger's row that this owner appends to is gone or another one")
	}
	return Result{}, err
}

func isHandlerError(err error) bool {
	_, ok := errors.AsType[*handlerError](err)
	return ok
}

func (o *owner) sendAttempt(ctx context.Context, conn *pgxpool.Conn, w *work, a *attempt) error {
	head := []statement{o.appendStatement(kindBatch, a.token, a.next, a.epoch, nil, nil, nil)}
	if len(w.claims) > 0 {
		head = append(head, o.claimStatement(w))
	}
	if o.batch.Calls() {
		return o.sendExplicit(ctx, conn.Conn(), w, head)
	}
	for _, s := range w.steps {
		head = append(head, o.writeStatement(s))
	}
	head = append(head, o.letterStatements(w.letters)...)
	p := newPipeline(ctx, conn.Conn())
	p.add(head...)
	_, err := p.run()
	return err
}

// sendExplicit runs a transaction with handler calls. Each stage is sent in one round
// trip; a handler sees all that earlier records of the batch did.
func (o *owner) sendExplicit(ctx context.Context, conn *pgx.Conn, w *work, pending []statement) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if err := o.stages(ctx, conn, tx, w, pending); err != nil {
		abandon(ctx, conn)
		return err
	}
	return nil
}

func (o *owner) stages(ctx context.Context, conn *pgx.Conn, tx pgx.Tx, w *work, pending []statement) error {
	for i := range w.steps {
		call := w.steps[i].Call
		if call == nil {
			pending = append(pending, o.writeStatement(w.steps[i]))
			continue
		}
		p := newPipeline(ctx, conn)
		p.add(pending...)
		if _, err := p.run(); err != nil {
			return err
		}
		pending = pending[:0]
		if err := fault.At(ctx, fault.AfterAppend); err != nil {
			return err
		}
		if err := o.call(ctx, conn, tx, call); err != nil {
			return err
		}
		if err := fault.At(ctx, fault.AfterHandler); err != nil {
			return err
		}
	}
	if err := fault.At(ctx, fault.BeforeCommit); err != nil {
		return err
	}
	p := newPipeline(ctx, conn)
	p.add(pending...)
	p.add(o.letterStatements(w.letters)...)
	p.p.SendQueryParams(commitSQL, nil, nil, nil, nil)
	tag, err := p.run()
	if err == nil && tag != commitSQL {
		// A transaction that failed before answers COMMIT with ROLLBACK, and no error.
		return fmt.Errorf("idem: the transaction was rolled back at COMMIT: %w", errRolledBack)
	}
	return err
}

var errRolledBack = errors.New("an error in it was swallowed")

// abandon ends a failed transaction: by ROLLBACK if the connection is sound, else by
// closing it.
func abandon(ctx context.Context, conn *pgx.Conn) {
	if conn.PgConn().TxStatus() == 'I' {
		return
	}
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = conn.Close(ctx) // it is of no use any more, whatever Close says
	}
}

func (o *owner) writeStatement(s wire.Step) statement {
	if o.names == nil {
		o.names = map[string]string{}
		for i, sql := range o.topic.Statements {
			o.names[sql] = statementName(o.topic.Name, i)
		}
	}
	name, ok := o.names[s.SQL]
	if !ok {
		panic("idem: generated code writes with a statement that its topic does not list")
	}
	return statement{name: name, args: s.Args}
}

func (o *owner) letterStatements(letters []letter) []statement {
	if len(letters) == 0 {
		return nil
	}
	args := append([][]byte{int4(o.stream), int8bytes(o.tail.seq + 1)}, letterRows(letters)...)
	return []statement{{name: "idem_dead_letter", args: args}}
}

// kinds of ledger rows.
const (
	kindBatch = 'b'
	kindFence = 'f'
)

// appendStatement appends the row after the tail. def and parts are copied from it if nil.
func (o *owner) appendStatement(kind byte, token UUID, next int64, epoch int32, def, parts, info []byte) statement {
	t := o.tail
	return statement{name: "idem_append", args: [][]byte{
		int4(o.stream), int8bytes(t.seq), t.token[:], token[:], int8bytes(t.next), int8bytes(next),
		{kind}, int4(epoch), def, parts, int8bytes(max(0, t.seq+1-windowRows)), info,
	}}
}

func int4(v int32) []byte      { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
func int8bytes(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// pipeline is several statements in one round trip. Outside of an explicit transaction
// they are one implicit transaction: all of them or none.
type pipeline struct{ p *pgconn.Pipeline }

func newPipeline(ctx context.Context, conn *pgx.Conn) *pipeline {
	return &pipeline{conn.PgConn().StartPipeline(ctx)}
}

func (p *pipeline) add(statements ...statement) {
	for _, s := range statements {
		p.p.SendQueryPrepared(s.name, s.args, binaryFormat, nil)
	}
}

// run sends the statements and returns the tag of the last one. Success is that the server
// became ready for the next query without an error: replies of single statements prove
// nothing, since a deferred constraint or a lost connection shows only then.
func (p *pipeline) run() (tag string, err error) {
	if err := p.p.Sync(); err != nil {
		return "", errors.Join(err, p.p.Close())
	}
	synced := false
	for err == nil && !synced {
		var res any
		if res, err = p.p.GetResults(); err != nil {
			break
		}
		switch r := res.(type) {
		case *pgconn.ResultReader:
			var t pgconn.CommandTag
			t, err = r.Close()
			tag = t.String()
		case *pgconn.PipelineSync:
			synced = true
		default:
			err = fmt.Errorf("idem: unexpected %T in a pipeline", res)
		}
	}
	if closeErr := p.p.Close(); err == nil {
		err = closeErr
	}
	if err == nil && !synced {
		err = errors.New("idem: the server did not acknowledge")
	}
	return tag, err
}
