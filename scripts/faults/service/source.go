package main

import (
	"cmp"
	"os"
	"strconv"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kgo"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/confluent"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/scripts/internal/script"
)

// kafkaSource is that of the client that is asked for, with a short patience.
func kafkaSource() (idem.Source, error) {
	brokers, id := os.Getenv(script.Brokers), cmp.Or(os.Getenv(script.Client), "service")
	protocol := cmp.Or(os.Getenv(script.Protocol), script.Classic)
	session, err := strconv.Atoi(cmp.Or(os.Getenv(script.Session), "1500"))
	if err != nil {
		return nil, err
	}
	if os.Getenv(script.Library) == "franz" {
		return &franz.Source{Brokers: brokers, Options: options(id, protocol, time.Duration(session)*time.Millisecond)}, nil
	}
	config := kafka.ConfigMap{
		"client.id": id, "group.protocol": protocol,
		"reconnect.backoff.max.ms": 500, "socket.timeout.ms": 5000, "topic.metadata.refresh.interval.ms": 2000,
	}
	if protocol == script.Classic { // otherwise the broker knows when it misses a process
		config["session.timeout.ms"], config["heartbeat.interval.ms"] = session, session/5
	}
	return &confluent.Source{Brokers: brokers, Config: config}, nil
}

// options are those of franz.
func options(id, protocol string, session time.Duration) []kgo.Opt {
	all := []kgo.Opt{kgo.ClientID(id), kgo.MetadataMaxAge(2 * time.Second), kgo.MetadataMinAge(time.Second), kgo.RequestTimeoutOverhead(5 * time.Second)}
	if protocol != script.Classic {
		return append(all, kgo.ServerSideBalancer())
	}
	return append(all, kgo.SessionTimeout(session), kgo.HeartbeatInterval(session/5))
}
