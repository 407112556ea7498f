package notices

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// Noticed has a receipt at once.
func (Service) Noticed(_ context.Context, e Noticed) (Receipt, error) {
	return Receipt{Receipt: "receipt of " + e.NoticeID}, nil
}

// New returns the consumer. The bench replaces its body for leases in Redis.
func New(db *pgxpool.Pool, opts ...idem.Option) (*idem.Consumer, error) {
	return NewConsumer(db, Service{}, opts...)
}
