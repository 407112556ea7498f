package idem

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// call runs one handler inside the transaction, with middleware around it. A handler that
// panics or ends its goroutine becomes an error.
func (o *owner) call(ctx context.Context, conn *pgx.Conn, tx pgx.Tx, call *wire.Call) error {
	ctx, cancel := context.WithTimeout(ctx, o.c.service.Limits.EventTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, deliveryKey{}, &Delivery{
		Consumer: o.c.service.Consumer, Event: call.Event, Key: call.Key,
		Attempt: o.calls.attempt(call.Message.Offset), Message: *call.Message,
	})
	fn := HandlerFunc(call.Fn)
	for _, m := range slices.Backward(o.c.middleware) {
		fn = m(fn)
	}
	if err := o.contained(ctx, &handlerTx{tx}, fn); err != nil {
		return &handlerError{call: call, err: err}
	}
	switch conn.PgConn().TxStatus() {
	case 'T':
		return nil
	case 'E':
		return &handlerError{call: call, err: errors.New("a statement failed, but the handler returned no error"), swallowed: true}
	}
	return o.halted(call.Message.Offset, "handler "+call.Event+" ended the transaction, which belongs to the runtime", nil)
}

// contained calls fn in a goroutine of its own, so that even runtime.Goexit comes back.
func (o *owner) contained(ctx context.Context, tx Tx, fn HandlerFunc) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the handler ended its goroutine")
		defer func() {
			if r := recover(); r != nil {
				o.c.log.Error("a handler panicked", "topic", o.id.Topic, "partition", o.id.Number, "panic", panicText(r), "stack", string(debug.Stack()))
				err = Permanent(fmt.Errorf("the handler panicked: %s", panicText(r)))
			}
			done <- err
		}()
		err = fn(ctx, tx)
	}()
	return <-done
}
