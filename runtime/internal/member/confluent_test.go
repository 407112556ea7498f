//go:build cgo

package member_test

import (
	"testing"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/idem"
)

func init() {
	clients = append(clients, client{
		name: "confluent", open: openConfluent, revokes: "delegating incremental revoke", watched: true,
		refused: "Connect to ipv4#127.0.0.1:1 failed: Connection refused",
		send: func(t testing.TB, brokers string) sender {
			p, err := producer.New(brokers, nil)
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
	})
}

func openConfluent(s *source) idem.Source {
	config := kafka.ConfigMap{"group.protocol": s.protocol, "reconnect.backoff.max.ms": 500}
	if s.protocol == classic {
		config["session.timeout.ms"], config["heartbeat.interval.ms"] = int(s.session.Milliseconds()), 200
	}
	if s.instance != "" {
		config["group.instance.id"] = s.instance
	}
	if s.metadata != 0 {
		config["topic.metadata.refresh.interval.ms"] = int(s.metadata.Milliseconds())
	}
	if s.password != "" {
		for name, v := range map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", "sasl.username": "ann", "sasl.password": s.password} {
			config[name] = v
		}
	}
	if s.debug {
		config["debug"] = "cgrp"
	}
	return &confluent.Source{Brokers: s.Brokers, Config: config, Logger: s.Logger}
}
