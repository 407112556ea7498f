package franz_test

import (
	"context"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
)

// A service that reads from brokers with TLS and a password.
func ExampleSource() {
	run := func(ctx context.Context, consumer *idem.Consumer) error {
		login := plain.Auth{User: "orders", Pass: os.Getenv("KAFKA_PASSWORD")}
		return consumer.Run(ctx, &franz.Source{
			Brokers: "kafka-1:9093,kafka-2:9093",
			Options: []kgo.Opt{kgo.DialTLS(), kgo.SASL(login.AsMechanism()), kgo.ClientID("orders")},
		})
	}
	_ = run
}
