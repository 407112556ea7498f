package idem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// statement is one statement, prepared unless it has a text, with its parameters in binary.
type statement struct {
	is   session.Statement
	sql  string // if it is not prepared: parsed anew each time
	args [][]byte
	user bool // of the spec's topic: the tables and triggers are the user's
}

var binaryFormat = []int16{1}

// send sends w: append, key claims, writes, dead letters. On the acknowledgement it moves
// forward; if a row of ours stands there already, it adopts that one.
func (o *owner) send(ctx context.Context, conn *pgxpool.Conn, w *work) (Result, error) {
	before := len(o.attempts)
	a := o.attempt(w)
	o.tried = true
	sent := o.c.now()
	written, err := o.sendOnce(ctx, conn, w, &a)
	if err == nil {
		err = fault.At(ctx, fault.Reply)
	}
	switch {
	case err == nil:
		o.heard(written, sent)
		return a.result, o.step(protocol.Acked, nil, func() { o.settle(a, written) })
	case rolledBack(err): // an outage must not fill the memory with them
		o.attempts = slices.Delete(o.attempts, before, len(o.attempts))
		if h, ok := errors.AsType[*handlerError](err); ok && h.left {
			a.by = h.call
			// Had an earlier one been committed so, this one's append would have met its row.
			o.attempts = append(slices.DeleteFunc(o.attempts, func(a attempt) bool { return a.by != nil }), a)
		}
	}
	if isHandlerError(err) {
		return Result{}, err
	}
	switch pgerror.Of(err) {
	case pgerror.Successor:
		return o.resolve(ctx, conn)
	case pgerror.Gone:
		return Result{}, o.fenced(protocol.Gone, "the ledger's row that this owner appends to is gone or another one")
	}
	return Result{}, err
}

// attempt is a new attempt to do w. It is remembered before anything that may commit it is
// sent.
func (o *owner) attempt(w *work) attempt {
	a := attempt{
		row:    ledger.Row{Kind: ledger.Batch, Token: newToken(), Next: w.next(), Epoch: w.epoch(o.tail.Epoch), Window: o.window(), Keys: w.keys.Keys, Defs: w.keys.Defs, Info: ledger.LettersInfo(w.inRow)},
		result: w.result, letters: w.letters, inRow: w.inRow, claims: slices.Clone(w.claims),
	}
	o.attempts = append(o.attempts, a)
	return a
}

// sendOnce sends an attempt. If the one before it, of which nobody knows whether it
// committed, waited in vain for a lock, then its own predecessor's client may have stopped.
func (o *owner) sendOnce(ctx context.Context, conn *pgxpool.Conn, w *work, a *attempt) (written time.Time, err error) {
	if o.stalled {
		return o.sendOvertaking(ctx, conn, w, a)
	}
	return o.sendAttempt(ctx, conn, w, a)
}

// rolledBack reports whether the failed attempt surely did not commit: the server said so,
// or COMMIT, which is sent after the last handler's call, was not sent.
func rolledBack(err error) bool {
	if isHandlerError(err) {
		return true
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgerror.OfState(pg) != pgerror.Doubt && !strings.HasPrefix(pg.Code, "57P")
}

func isHandlerError(err error) bool {
	_, ok := errors.AsType[*handlerError](err)
	return ok
}

func (o *owner) sendAttempt(ctx context.Context, conn *pgxpool.Conn, w *work, a *attempt) (written time.Time, err error) {
	head := []statement{o.appendStatement(a.row)}
	head = append(head, o.claimStatements(w)...)
	if o.batch.Calls() {
		return o.sendExplicit(ctx, conn.Conn(), w, a, head)
	}
	for _, s := range w.steps {
		head = append(head, o.writeStatement(s))
	}
	head = append(head, o.letterStatements(w.letters)...)
	p := newPipeline(ctx, conn.Conn())
	p.add(head...)
	r, err := p.run()
	return r.written(), err
}

func (o *owner) writeStatement(s wire.Step) statement {
	if o.statements == nil {
		o.statements = map[string]session.Statement{}
		for _, sql := range o.topic.Statements {
			o.statements[sql] = userStatement(sql)
		}
	}
	is, ok := o.statements[s.SQL]
	if !ok {
		panic("idem: generated code writes with a statement that its topic does not list")
	}
	return statement{is: is, args: s.Args, user: true}
}

func (o *owner) letterStatements(letters []letter) []statement {
	if len(letters) == 0 {
		return nil
	}
	args := append([][]byte{ledger.Int4(o.stream), ledger.Int8(o.tail.Seq + 1)}, letterRows(letters)...)
	return []statement{{is: letterStatement, args: args}}
}

// appendStatement appends the row after the tail.
func (o *owner) appendStatement(r ledger.Row) statement {
	return statement{is: appendStatement, args: ledger.Append(o.stream, o.tail, r)}
}

// pipeline is several statements in one round trip. Outside of an explicit transaction
// they are one implicit transaction: all of them or none.
type pipeline struct {
	p       *pgconn.Pipeline
	session *session.Session
	user    []bool // of each statement that was added
}

func newPipeline(ctx context.Context, conn *pgx.Conn) *pipeline {
	return &pipeline{p: conn.PgConn().StartPipeline(ctx), session: session.Of(conn.PgConn())}
}

func (p *pipeline) add(statements ...statement) {
	for _, s := range statements {
		if s.sql == "" {
			name, args := p.session.Bind(s.is, s.args)
			p.p.SendQueryPrepared(name, args, binaryFormat, binaryFormat)
		} else {
			p.p.SendQueryParams(s.sql, s.args, nil, binaryFormat, binaryFormat)
		}
		p.user = append(p.user, s.user)
	}
}

// reply is what the server answered to a pipeline.
type reply struct {
	tag string   // of the last statement
	row [][]byte // the only row of the first statement that returned one

	answered int // how many statements succeeded
}

// written is when the appended row was written, by the database's clock.
func (r reply) written() time.Time {
	if len(r.row) == 0 {
		return time.Time{}
	}
	return ledger.Time(r.row[0])
}

// run sends the statements. Success is that the server became ready for the next query
// without an error: replies of single statements prove nothing, since a deferred constraint
// or a lost connection shows only then.
func (p *pipeline) run() (reply, error) {
	out, err, _ := p.runThen()
	return out, err
}

// runThen is run with statements behind it, in the same round trip but no part of the
// transaction. Their error is told apart, and only if there is no other.
func (p *pipeline) runThen(behind ...statement) (out reply, err, errBehind error) {
	if len(behind) > 0 {
		p.p.SendPipelineSync()
		p.add(behind...)
	}
	if err := p.p.Sync(); err != nil {
		return out, errors.Join(err, p.p.Close()), nil
	}
	err = p.answers(&out)
	if err == nil && len(behind) > 0 {
		errBehind = p.answers(&reply{})
		return out, nil, errors.Join(errBehind, p.p.Close())
	}
	if closeErr := p.p.Close(); err == nil {
		err = closeErr
	}
	return out, err, nil
}

// answers reads what the server answers until it is ready for the next query.
func (p *pipeline) answers(out *reply) error {
	for {
		res, err := p.p.GetResults()
		if err != nil {
			return p.of(out.answered, err)
		}
		switch r := res.(type) {
		case *pgconn.ResultReader:
			if err := out.read(r); err != nil {
				return p.of(out.answered, err)
			}
			out.answered++
		case *pgconn.PipelineSync:
			return nil
		case nil:
			return errors.New("idem: the server did not acknowledge")
		default:
			return fmt.Errorf("idem: unexpected %T in a pipeline", res)
		}
	}
}

// of marks an error of the statement at i as the protocol's, unless the user's tables and
// triggers can have raised it: in a statement of theirs, or when the transaction ended.
func (p *pipeline) of(i int, err error) error {
	switch {
	case err == nil:
		return nil
	case i >= len(p.user) || p.user[i]:
		return &pgerror.Write{Err: err}
	}
	return &pgerror.Protocol{Err: err}
}

func (r *reply) read(result *pgconn.ResultReader) error {
	for result.NextRow() {
		if r.row == nil {
			for _, v := range result.Values() {
				r.row = append(r.row, bytes.Clone(v))
			}
		}
	}
	tag, err := result.Close()
	r.tag = tag.String()
	return err
}
