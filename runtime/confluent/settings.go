package confluent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
)

// fixed are the settings that the guarantee rests on. The position comes from the ledger, so
// the client may neither commit nor reset it; a rebalance must not stop the partitions that
// stay; aborted transactions must not be seen; damaged records must not be believed.
var fixed = kafka.ConfigMap{
	"enable.auto.commit":            false,
	"enable.auto.offset.store":      false,
	"auto.offset.reset":             "error",
	"isolation.level":               "read_committed",
	"check.crcs":                    true,
	"group.protocol":                "classic",
	"partition.assignment.strategy": "cooperative-sticky",
	"enable.partition.eof":          false,
	"go.logs.channel.enable":        true,
}

// elsewhere are settings that have a place of their own, or that would change how the
// client is driven, with what to do instead.
var elsewhere = map[string]string{
	"bootstrap.servers":               "use Source.Brokers",
	"metadata.broker.list":            "use Source.Brokers",
	"group.id":                        "it is the consumer's name in the spec",
	"max.poll.interval.ms":            "use limits.max_poll_interval of the spec",
	"auto.commit.enable":              "the ledger holds the position",
	"default.topic.config":            "name the settings one by one",
	"go.application.rebalance.enable": "rebalances are part of the guarantee",
	"go.events.channel.enable":        "records are polled",
	"go.events.channel.size":          "records are polled",
	"go.logs.channel":                 "use Source.Logger",
}

// usual are defaults of ours, which Config may change. The client's own allow 64 MiB of
// records in memory. A fetch that waits for records holds up all else that is asked of the
// same broker, such as records of a partition that was paused, so that it must not wait long.
var usual = kafka.ConfigMap{
	"queued.max.messages.kbytes": 4096,
	"max.partition.fetch.bytes":  256 << 10,
	"fetch.wait.max.ms":          50,
	"fetch.queue.backoff.ms":     5,
}

// settings returns the client's settings, or an error that names every one refused.
func (s *Source) settings(sub idem.Subscription) (*kafka.ConfigMap, error) {
	var errs []error
	if s.Brokers == "" {
		errs = append(errs, errors.New("confluent: Source.Brokers is empty"))
	}
	if sub.Group == "" || len(sub.Topics) == 0 || sub.BatchEvents < 1 || sub.BatchBytes < 1 || sub.BatchWait <= 0 {
		errs = append(errs, errors.New("confluent: the subscription lacks a group, topics or the size of a batch"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		if why := refused(name); why != "" {
			errs = append(errs, fmt.Errorf("confluent: Source.Config: %s cannot be set: %s", name, why))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	config := kafka.ConfigMap{}
	for _, m := range []kafka.ConfigMap{usual, s.Config, fixed} {
		maps.Copy(config, m)
	}
	config["bootstrap.servers"] = s.Brokers
	config["group.id"] = sub.Group
	if ms := sub.MaxPollInterval.Milliseconds(); ms > 0 {
		config["max.poll.interval.ms"] = int(ms)
	}
	return &config, nil
}

// refused says why Source.Config may not hold a setting; "" if it may.
func refused(name string) string {
	name = strings.TrimPrefix(name, "{topic}.")
	if v, ok := fixed[name]; ok {
		return fmt.Sprintf("exactly-once needs it to be %v", v)
	}
	return elsewhere[name]
}
