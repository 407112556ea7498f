//go:build cgo

package client

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

func init() {
	usual = "confluent"
	clients[usual] = library{withConfluent, func(brokers string) (Sender, error) { return producer.New(brokers, nil) }}
}

func withConfluent(s settings) idem.Source {
	config := kafka.ConfigMap{
		"client.id": s.id, "group.protocol": s.protocol,
		"reconnect.backoff.max.ms": 500, "socket.timeout.ms": 5000, "topic.metadata.refresh.interval.ms": 2000,
	}
	if s.protocol == script.Classic { // otherwise the broker decides when it misses a process
		session := int(s.session.Milliseconds())
		config["session.timeout.ms"], config["heartbeat.interval.ms"] = session, session/5
	}
	return &confluent.Source{Brokers: s.brokers, Config: config}
}
