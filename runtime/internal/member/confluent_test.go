//go:build cgo

package member_test

import (
	"maps"
	"testing"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/confluent/producer"
	"github.com/idemgen/idemgen/runtime/idem"
)

func init() {
	clients = append(clients, client{
		name: "confluent", open: openConfluent, revokes: "delegating incremental revoke", watched: true,
		drain:   drainConfluent,
		refused: "Connect to ipv4#127.0.0.1:1 failed: Connection refused",
		send: func(t testing.TB, brokers string, l login) sender {
			config := confluentLogin(l)
			if l.patience > 0 {
				config["message.timeout.ms"] = int(l.patience.Milliseconds())
			}
			p, err := producer.New(brokers, config)
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
	maps.Copy(config, confluentLogin(s.login))
	if s.debug {
		config["debug"] = "cgrp"
	}
	return &confluent.Source{Brokers: s.Brokers, Config: config, Logger: s.Logger}
}

// confluentLogin is a login in librdkafka's settings.
func confluentLogin(l login) kafka.ConfigMap {
	config := kafka.ConfigMap{}
	for name, value := range map[string]string{
		"ssl.ca.location": l.ca, "ssl.certificate.location": l.own.CertFile, "ssl.key.location": l.own.KeyFile,
		"sasl.mechanism": l.mechanism, "sasl.username": l.user, "sasl.password": l.password,
	} {
		if value != "" {
			config[name] = value
		}
	}
	if l.mechanism == "OAUTHBEARER" {
		delete(config, "sasl.username")
		delete(config, "sasl.password")
	}
	if l.tokens != "" {
		maps.Copy(config, kafka.ConfigMap{
			"sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.token.endpoint.url": l.tokens,
			"sasl.oauthbearer.client.id": l.user, "sasl.oauthbearer.client.secret": l.password,
		})
	}
	if p := l.protocol(); p != "plaintext" {
		config["security.protocol"] = p
	}
	return config
}

func drainConfluent(t testing.TB, brokers string, records int) {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": brokers, "group.id": "drain", "enable.auto.commit": false, "queued.max.messages.kbytes": 2048,
		"max.partition.fetch.bytes": 128 << 10, "fetch.max.bytes": 2 << 20, "fetch.wait.max.ms": 50, "fetch.queue.backoff.ms": 5, "log_level": 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	topic := topicName
	var from []kafka.TopicPartition
	for p := range int32(drained) {
		from = append(from, kafka.TopicPartition{Topic: &topic, Partition: p, Offset: kafka.OffsetBeginning})
	}
	if err := c.Assign(from); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < records; {
		if _, ok := c.Poll(50).(*kafka.Message); ok {
			n++
		}
	}
}
