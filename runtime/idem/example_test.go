package idem_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idem"
)

// Paid stands for an event that idemgen generates.
type Paid struct {
	Account idem.UUID
	Amount  idem.Decimal
}

// A handler writes through tx. It marks an error that no retry can fix: the event then becomes a
// dead letter immediately. After any other error the event is retried, as on_failure says.
func ExamplePermanent() {
	book := func(ctx context.Context, tx idem.Tx, e Paid) error {
		tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = balance + $2 WHERE account_id = $1`, e.Account, e.Amount)
		if err == nil && tag.RowsAffected() == 0 {
			return idem.Permanent(errors.New("the account does not exist"))
		}
		return err
	}
	_ = book // a method of the service's Handler
}

// An effect says when it makes sense to call again. Such a call does not count as a try.
func ExampleRetryAfter() {
	charge := func(ctx context.Context, e Paid) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://provider.example/charge", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode == http.StatusTooManyRequests {
			return idem.RetryAfter(time.Minute, errors.New("too many requests"))
		}
		return nil
	}
	_ = charge
}

// Who is called by an effect may know copies by the key of the event, and old callers by a token
// that only grows.
func ExampleDeliveryFrom() {
	charge := func(ctx context.Context, e Paid) error {
		delivery, _ := idem.DeliveryFrom(ctx)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://provider.example/charge", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Idempotency-Key", delivery.Key.String())
		request.Header.Set("Fencing-Token", fmt.Sprint(delivery.Token))
		return nil
	}
	_ = charge
}

// jobs stands for a library that works in a pgx.Tx, as river's client does.
type jobs interface {
	InsertTx(ctx context.Context, tx pgx.Tx, job any) error
}

// A job is enqueued in the transaction of the event: it is there if, and only if, the event took
// effect.
func ExamplePgxTx() {
	var client jobs
	receipt := func(ctx context.Context, tx idem.Tx, e Paid) error {
		return client.InsertTx(ctx, idem.PgxTx(tx), e)
	}
	_ = receipt
}

// pager tells people of dead letters.
type pager struct{}

func (pager) OnDeadLetter(p idem.Partition, l hook.Letter) {
	slog.Warn("look at it", "topic", p.Topic, "partition", p.Number, "offset", l.Offset, "reason", l.Reason)
}

// A hook is a value with one or more of the methods of package hook. It is an option of the
// NewConsumer that idemgen generates.
func ExampleWithHooks() {
	option := idem.WithHooks(pager{})
	_ = option
}

// Health has no problems while every partition of the process makes progress; else it says why
// not, with the command that helps.
func ExampleConsumer_Health() {
	ready := func(consumer *idem.Consumer) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if err := consumer.Health().Err(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
			}
		}
	}
	_ = ready
}
