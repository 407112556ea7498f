package confluent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/idem"
)

// fixed are the settings that the exactly-once guarantee depends on. The position comes from the
// ledger, so the client must neither commit nor reset it. Records of aborted transactions must not
// be seen. Corrupt records must be detected. The end of a partition must be distinguishable from
// silence.
var fixed = kafka.ConfigMap{
	"enable.auto.commit":       false,
	"enable.auto.offset.store": false,
	"auto.offset.reset":        "error",
	"isolation.level":          "read_committed",
	"check.crcs":               true,
	"enable.partition.eof":     true,
	"go.logs.channel.enable":   true,
}

// protocols are the two ways in which a group assigns partitions, with the settings of each.
// classic is the default: every broker supports it, and a member that cannot reach its coordinator
// stops at its session timeout. With KIP-848, such a member continues to fetch until the ledger
// rejects it.
var protocols = map[string]kafka.ConfigMap{
	"classic":  {"group.protocol": "classic", "partition.assignment.strategy": "cooperative-sticky"},
	"consumer": {"group.protocol": "consumer"},
}

// elsewhere are settings that are set elsewhere, or that would change how the client is driven,
// with what to do instead.
var elsewhere = map[string]string{
	"bootstrap.servers":               "use Source.Brokers",
	"metadata.broker.list":            "use Source.Brokers",
	"group.id":                        "it is the consumer's name in the spec, or that of idem.WithGroup",
	"max.poll.interval.ms":            "it follows from limits.batch_timeout of the spec",
	"auto.commit.enable":              "the ledger holds the position",
	"allow.auto.create.topics":        "a topic that is missing must be reported",
	"default.topic.config":            "name the settings one by one",
	"go.application.rebalance.enable": "rebalances are part of the guarantee",
	"go.events.channel.enable":        "records are polled",
	"go.events.channel.size":          "records are polled",
	"go.logs.channel":                 "use Source.Logger",
	"statistics.interval.ms":          "use Consumer.Stats",
}

// fetchBytes is how many bytes of a partition the client fetches at a time, unless Config says
// otherwise. The client delivers records fetch by fetch: a large fetch of a partition whose queue
// is full holds up those of others, and is dropped when the partition is paused. A broker still
// returns a whole batch of records if a single batch is larger.
const fetchBytes = 128 << 10

// usual are idemgen's defaults, which Config may change. The client's own defaults allow 64 MiB
// of records in its queue, where small records take three times their size. A fetch that waits
// for records holds up all other requests to the same broker, such as the fetch of a partition
// that was paused, so it must not wait long.
var usual = kafka.ConfigMap{
	"queued.max.messages.kbytes": 2048,
	"max.partition.fetch.bytes":  fetchBytes,
	"fetch.max.bytes":            2 << 20, // of all partitions of a broker
	"fetch.wait.max.ms":          50,
	"fetch.queue.backoff.ms":     5,
	// How soon new partitions are found; the client's own default is five minutes.
	"topic.metadata.refresh.interval.ms": 60_000,
}

// usualSession is the session timeout in milliseconds if Config sets none: the client's own
// default. With group.protocol=consumer the broker determines it.
const usualSession = 45_000

// session returns the session timeout in milliseconds: that of Config, or the usual one. The usual
// one is limited to the interval between polls, because the client accepts no longer one.
func (s *Source) session(sub idem.Subscription) any {
	if set, ok := s.Config["session.timeout.ms"]; ok {
		return set
	}
	if ms := int(sub.MaxPollInterval.Milliseconds()); ms > 0 {
		return min(usualSession, ms)
	}
	return usualSession
}

// sessionEnds returns, in words, how long the group waits for a member that died without leaving.
func (s *Source) sessionEnds(sub idem.Subscription) string {
	protocol, _ := s.protocol()
	if protocol != "classic" {
		return "the group's consumer.session.timeout.ms, by default 45s"
	}
	most := s.session(sub)
	ms, err := strconv.ParseInt(fmt.Sprint(most), 10, 64)
	if err != nil { // the client rejects it
		return fmt.Sprintf("session.timeout.ms=%v", most)
	}
	return fmt.Sprintf("%v (session.timeout.ms)", time.Duration(ms)*time.Millisecond)
}

// settings returns the client's settings, or an error that names every rejected one.
func (s *Source) settings(sub idem.Subscription, compare time.Duration) (*kafka.ConfigMap, error) {
	var errs []error
	if s.Brokers == "" {
		errs = append(errs, errors.New("confluent: Source.Brokers is empty"))
	}
	if sub.Group == "" || len(sub.Topics) == 0 || sub.BatchEvents < 1 || sub.BatchBytes < 1 || sub.BatchWait <= 0 {
		errs = append(errs, errors.New("confluent: the subscription lacks a group, topics or batch limits"))
	}
	protocol, ok := s.protocol()
	if !ok {
		errs = append(errs, errors.New("confluent: Source.Config: group.protocol must be classic or consumer"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		if why := refused(name, protocol); why != "" {
			errs = append(errs, fmt.Errorf("confluent: Source.Config: %s cannot be set: %s", name, why))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	config := kafka.ConfigMap{}
	for _, m := range []kafka.ConfigMap{usual, s.Config, protocols[protocol], fixed} {
		maps.Copy(config, m)
	}
	if _, set := s.Config["fetch.message.max.bytes"]; set { // an alias: the client applies settings in any order
		delete(config, "max.partition.fetch.bytes")
	}
	config["bootstrap.servers"] = s.Brokers
	config["group.id"] = sub.Group
	if protocol == "consumer" { // only the statistics show a member without partitions that it is one
		config["statistics.interval.ms"] = int(compare.Milliseconds())
	}
	if ms := int(sub.MaxPollInterval.Milliseconds()); ms > 0 {
		config["max.poll.interval.ms"] = ms
	}
	if protocol == "classic" {
		config["session.timeout.ms"] = s.session(sub)
	}
	return &config, nil
}

// protocol returns the group protocol that Source.Config selects, and whether it exists.
func (s *Source) protocol() (name string, ok bool) {
	chosen, set := s.Config["group.protocol"]
	if !set {
		return "classic", true
	}
	name = fmt.Sprint(chosen)
	_, ok = protocols[name]
	return name, ok
}

// refused returns why Source.Config may not contain a setting; "" if it may.
func refused(name, protocol string) string {
	name = strings.TrimPrefix(name, "{topic}.")
	if v, ok := fixed[name]; ok {
		return fmt.Sprintf("exactly-once requires the value %v", v)
	}
	switch {
	case name == "partition.assignment.strategy" && protocol == "classic":
		return "it is cooperative-sticky, because a rebalance must not stop the partitions that stay"
	case name == "partition.assignment.strategy":
		return "with group.protocol=consumer the broker assigns partitions; group.remote.assignor says how"
	case name == "session.timeout.ms" && protocol == "consumer", name == "heartbeat.interval.ms" && protocol == "consumer":
		return "with group.protocol=consumer it is a setting of the broker or of the group: consumer." + name
	case name == "group.protocol.type":
		return "a client-side assignor is not supported"
	case name == "group.remote.assignor" && protocol == "classic":
		return "it requires group.protocol=consumer"
	}
	return elsewhere[name]
}
