package confluent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// errOnItsWay is the error of a record that has no answer yet.
var errOnItsWay = errors.New("on its way")

// endTimeout is how long the broker may take to end a transaction, also when the relay ends.
const endTimeout = 10 * time.Second

// endTransaction commits if Kafka has all records, else it takes all back, and returns what
// became of them.
func (s *sender) endTransaction(ctx context.Context, d *dispatch) []error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if errors.Join(d.errs...) == nil {
		err := s.retried(ctx, s.client.CommitTransaction)
		if err == nil {
			return d.errs
		}
		d.all(err)
	} else {
		d.takeBack()
	}
	if s.fatal() != nil {
		return d.errs
	}
	err := s.retried(ctx, s.client.AbortTransaction)
	if err == nil {
		err = s.renew(ctx)
	}
	if err != nil { // nobody knows what this client would go on with; another one ends the transaction
		return d.all(fmt.Errorf("%w: %w", outbox.ErrBroken, err))
	}
	return d.errs
}

// takeBack notes that records which arrived count as not sent.
func (d *dispatch) takeBack() {
	for i, err := range d.errs {
		if err == nil {
			d.errs[i] = outbox.ErrHeldBack
		}
	}
}

// retried calls f until it succeeds, or an error tells that it never will.
func (s *sender) retried(ctx context.Context, f func(context.Context) error) error {
	for {
		err := f(ctx)
		e, ok := errors.AsType[kafka.Error](err)
		if err == nil || !ok || !e.IsRetriable() || ctx.Err() != nil {
			return err
		}
	}
}
