package confluent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"enable.auto.commit", "enable.auto.offset.store", "auto.offset.reset", "isolation.level", "check.crcs",
		"group.protocol", "partition.assignment.strategy", "group.protocol.type", "group.remote.assignor", "group.id", "bootstrap.servers", "max.poll.interval.ms",
		"default.topic.config", "{topic}.auto.offset.reset", "go.events.channel.enable", "go.application.rebalance.enable",
	} {
		s := &Source{Brokers: "127.0.0.1:1", Config: kafka.ConfigMap{name: "x"}}
		err := s.Run(t.Context(), subscription(), nil)
		if err == nil || !strings.Contains(err.Error(), "Source.Config: "+name+" ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	err := (&Source{}).Run(t.Context(), subscription(), nil)
	if err == nil || err.Error() != "confluent: Source.Brokers is empty" {
		t.Errorf("no brokers: got %v", err)
	}
}

// What a broker of KIP-848 decides cannot be set here; all else stays as it is.
func TestSettingsOfTheConsumerProtocol(t *testing.T) {
	t.Parallel()
	s := &Source{Brokers: "b:9092", Config: kafka.ConfigMap{"group.protocol": "consumer", "group.remote.assignor": "uniform"}}
	got, err := s.settings(subscription(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if v := (*got)["group.protocol"]; v != "consumer" {
		t.Errorf("group.protocol=%v", v)
	}
	if v, ok := (*got)["partition.assignment.strategy"]; ok {
		t.Errorf("partition.assignment.strategy=%v", v)
	}
	if v := (*got)["auto.offset.reset"]; v != "error" {
		t.Errorf("auto.offset.reset=%v", v)
	}
	for name, want := range map[string]string{
		"session.timeout.ms":            "is a setting of the broker or of the group: consumer.session.timeout.ms",
		"heartbeat.interval.ms":         "is a setting of the broker or of the group: consumer.heartbeat.interval.ms",
		"partition.assignment.strategy": "the broker assigns partitions",
	} {
		s := &Source{Brokers: "b:9092", Config: kafka.ConfigMap{"group.protocol": "consumer", name: "x"}}
		if _, err := s.settings(subscription(), time.Second); err == nil || !strings.Contains(err.Error(), name+" cannot be set: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSettingsThatAreSet(t *testing.T) {
	t.Parallel()
	s := &Source{Brokers: "b:9092", Config: kafka.ConfigMap{"session.timeout.ms": 6000, "queued.max.messages.kbytes": 1024}}
	got, err := s.settings(subscription(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for k, v := range *got {
		lines = append(lines, fmt.Sprintf("%s=%v", k, v))
	}
	slices.Sort(lines)
	const want = `auto.offset.reset=error
bootstrap.servers=b:9092
check.crcs=true
enable.auto.commit=false
enable.auto.offset.store=false
enable.partition.eof=true
fetch.max.bytes=2097152
fetch.queue.backoff.ms=5
fetch.wait.max.ms=50
go.logs.channel.enable=true
group.id=orders
group.protocol=classic
isolation.level=read_committed
max.partition.fetch.bytes=131072
max.poll.interval.ms=60000
partition.assignment.strategy=cooperative-sticky
queued.max.messages.kbytes=1024
session.timeout.ms=6000
topic.metadata.refresh.interval.ms=60000`
	if strings.Join(lines, "\n") != want {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// A service that is started behind a kill -9 says how long the group may wait for the dead member.
func TestHowLongTheGroupWaitsForADeadMember(t *testing.T) {
	t.Parallel()
	for want, config := range map[string]kafka.ConfigMap{
		"at most 45s (session.timeout.ms)": nil,
		"at most 6s (session.timeout.ms)":  {"session.timeout.ms": "6000"},
		"consumer.session.timeout.ms":      {"group.protocol": "consumer"},
	} {
		s := &Source{Brokers: "b:9092", Config: config}
		if ends := s.sessionEnds(subscription()); !strings.Contains("at most "+ends, want) {
			t.Errorf("%s, want %q", ends, want)
		}
		set, err := s.settings(subscription(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if ms, err := set.Get("session.timeout.ms", nil); err != nil || config == nil && ms != 45000 || config["group.protocol"] != nil && ms != nil {
			t.Errorf("session.timeout.ms is %v, %v", ms, err)
		}
	}
}

// The client takes the shortest interval between polls that a spec may have.
func TestShortPollInterval(t *testing.T) {
	t.Parallel()
	for protocol := range protocols {
		sub := subscription()
		sub.MaxPollInterval = 13 * time.Second
		s := &Source{Brokers: "localhost:1", Config: kafka.ConfigMap{"group.protocol": protocol}}
		config, err := s.settings(sub, time.Second)
		if ends := s.sessionEnds(sub); protocol == "classic" && !strings.HasPrefix(ends, "13s ") {
			t.Errorf("the group is said to wait for %s", ends)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := kafka.NewConsumer(config)
		if err != nil {
			t.Errorf("%s: %v", protocol, err)
			continue
		}
		c.Close()
	}
}
