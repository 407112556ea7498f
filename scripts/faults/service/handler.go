package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/examples/orders"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

// handler does what the example's does, and something else first.
type handler struct {
	orders.Service
	how   string
	calls atomic.Int64
}

// OrderPaid implements orders.Handler.
func (h *handler) OrderPaid(ctx context.Context, tx idem.Tx, e orders.OrderPaid) error {
	if err := h.before(ctx, tx, e, h.calls.Add(1)); err != nil {
		return err
	}
	return h.Service.OrderPaid(ctx, tx, e)
}

func (h *handler) before(ctx context.Context, tx idem.Tx, e orders.OrderPaid, call int64) error {
	unlucky := script.Unlucky(e.PaymentID.String())
	switch h.how {
	case script.Slow:
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	case script.Contend:
		return contend(ctx, tx)
	case script.Serialize:
		if call%5 == 0 {
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE SQLSTATE '40001'; END $$`)
			return err
		}
	case script.Panic:
		if unlucky {
			panic("a panic of the fault kit")
		}
	case script.Goexit:
		if unlucky {
			runtime.Goexit()
		}
	case script.Exit:
		if call == 3 {
			os.Exit(script.Code)
		}
	case script.Ignore:
		if call == 3 {
			select {}
		}
	case script.Read:
		return read(ctx, tx)
	case script.Refuse:
		return idem.Permanent(errors.New("refused by the fault kit"))
	}
	return nil
}

// contend locks two rows that all partitions want: those of even number one way round, the
// others the other.
func contend(ctx context.Context, tx idem.Tx) error {
	first, second := 1, 2
	if d, _ := idem.DeliveryFrom(ctx); d.Message.Partition%2 == 1 {
		first, second = 2, 1
	}
	for _, id := range []int{first, second} {
		if _, err := tx.Exec(ctx, `UPDATE audit_contended SET n = n + 1 WHERE id = $1`, id); err != nil {
			return err
		}
	}
	return nil
}

// read has the server send 40 MB, slowly read.
func read(ctx context.Context, tx idem.Tx) error {
	rows, err := tx.Query(ctx, `SELECT repeat('x', 10000) FROM generate_series(1, 4000)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for n := 0; rows.Next(); n++ {
		if n%400 == 0 {
			time.Sleep(50 * time.Millisecond)
		}
	}
	return rows.Err()
}
