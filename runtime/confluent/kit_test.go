package confluent

import (
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

func subscription() idem.Subscription {
	return idem.Subscription{
		Group: "orders", Topics: []string{"orders.v1"},
		BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, MaxPollInterval: time.Minute,
	}
}
