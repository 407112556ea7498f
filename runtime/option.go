package idem

import (
	"context"
	"log/slog"

	"github.com/idemgen/idemgen/runtime/internal/keyset"
)

// Option changes a default of a generated constructor.
type Option func(*Consumer)

// WithLogger sets the logger; the default is slog.Default(). The runtime logs one line per
// change of a partition's state (Info, Error), one per dead letter or conflict (Warn, at
// most 10 in 10 seconds; the next line counts those left out), and one per duplicate
// (Debug). It never logs a payload or a key.
func WithLogger(l *slog.Logger) Option { return func(c *Consumer) { c.log = l } }

// WithObserver adds hooks around each batch, for traces and metrics.
func WithObserver(o Observer) Option { return func(c *Consumer) { c.observer = o } }

// defaultKeyMemory is room for about 20 million keys.
const defaultKeyMemory = 512 << 20

// WithKeyMemory sets how many bytes all partitions of the process together may use for keys
// with copies: same_partition, at 27 bytes per key; the default is 512 MiB. A partition whose
// keys do not fit waits, and [Consumer.Health] says so, until keys leave their window: none
// is forgotten before.
func WithKeyMemory(bytes int64) Option {
	return func(c *Consumer) { c.keyMemory = keyset.NewBudget(bytes) }
}

// WithMiddleware wraps every handler call, inside its transaction. The first one given is
// the outermost.
func WithMiddleware(m ...Middleware) Option {
	return func(c *Consumer) { c.middleware = append(c.middleware, m...) }
}

type deliveryKey struct{}

// DeliveryFrom returns what the handler was called for. It reports false outside of
// handlers.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}
