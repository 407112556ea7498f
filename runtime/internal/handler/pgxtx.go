package handler

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
	"github.com/idemgen/idemgen/runtime/wire"
)

// ErrTxOwned is returned by Commit and Rollback of [PgxTx].
var ErrTxOwned = errors.New("idem: the transaction belongs to the runtime, which commits it")

// PgxTx returns the pgx transaction behind tx. Its Commit and Rollback return [ErrTxOwned]; Begin
// creates a savepoint as usual. PgxTx panics if tx is not from this package or pgx.
func PgxTx(tx wire.Tx) pgx.Tx {
	switch t := tx.(type) {
	case *handlerTx:
		return ownedTx{t}
	case pgx.Tx:
		return t
	}
	panic(fmt.Sprintf("idem: PgxTx: %T is not a transaction of the runtime or of pgx", tx))
}

// ownedTx implements [pgx.Tx] for a handler's transaction.
type ownedTx struct{ *handlerTx }

func (ownedTx) Commit(context.Context) error   { return ErrTxOwned }
func (ownedTx) Rollback(context.Context) error { return ErrTxOwned }

func (t ownedTx) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := t.begin(); err != nil {
		return nil, err
	}
	defer t.of.life.end()
	if err := t.lives(ctx); err != nil {
		return nil, err
	}
	within, ok := t.on.(pgx.Tx)
	if !ok {
		var err error
		if within, err = t.of.in.pgx(); err != nil {
			return nil, err
		}
	}
	savepoint, err := within.Begin(ctx)
	if err != nil {
		return nil, t.sent(ctx, err)
	}
	t.of.trace.open.Add(1)
	return savepointTx{ownedTx{&handlerTx{on: savepoint, of: t.of, within: t.handlerTx}}, savepoint}, nil
}

func (t ownedTx) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if _, _, err := t.beginStatement(ctx, sql, nil); err != nil {
		return nil, err
	}
	defer t.of.life.end()
	if strings.IndexByte(name, 0) >= 0 {
		return nil, errNUL
	}
	if footprint.Of(sql)&footprint.Nests != 0 { // a later call could run it by its name
		return nil, errors.New("idem: savepoint statements cannot be prepared: use Begin or Exec")
	}
	described, err := t.on.Prepare(ctx, name, sql)
	return described, said(err)
}

// Conn returns nil after the transaction has ended.
func (t ownedTx) Conn() *pgx.Conn { return t.conn() }

// LargeObjects returns a value whose statements run as the handler's: they fail with
// [pgx.ErrTxClosed] after the handler has returned. pgx has no exported constructor for such a
// value, so LargeObjects sets its only field.
func (t ownedTx) LargeObjects() (objects pgx.LargeObjects) {
	is := reflect.ValueOf(&objects).Elem()
	if is.NumField() != 1 || is.Field(0).Type() != reflect.TypeFor[pgx.Tx]() {
		panic("idem: LargeObjects is not supported with this version of pgx")
	}
	*(*pgx.Tx)(is.Field(0).Addr().UnsafePointer()) = t
	return objects
}

// savepointTx is a savepoint in a handler's transaction, which the handler ends itself.
type savepointTx struct {
	ownedTx
	savepoint pgx.Tx
}

func (t savepointTx) Commit(ctx context.Context) error {
	if !t.over {
		if err := t.lives(ctx); err != nil {
			return err
		}
	}
	err := t.finish(ctx, t.savepoint.Commit)
	if err == nil { // a savepoint that was rolled back to is still set
		t.of.trace.open.Add(-1)
	}
	return err
}

// Rollback rolls back even if ctx has ended: else what the savepoint did would commit with the
// event.
func (t savepointTx) Rollback(ctx context.Context) error {
	if ctx.Err() != nil {
		ctx = &t.of.ctx
	}
	over := t.over
	err := t.finish(ctx, t.savepoint.Rollback)
	switch {
	case err == nil:
		t.of.life.mu.Lock()
		t.rolledBack = true
		t.of.life.mu.Unlock()
	case !over:
		return t.sent(ctx, err)
	}
	return err
}

func (t savepointTx) finish(ctx context.Context, how func(context.Context) error) error {
	if err := t.of.life.begin(false); err != nil {
		return err
	}
	defer t.of.life.end()
	if err := t.of.send(); err != nil {
		return err
	}
	err := how(ctx)
	t.over = t.over || err == nil
	return err
}
