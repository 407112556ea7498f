package idemtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/fakebroker"
)

// Start restarts a stopped broker, at the same address. If option Dir is set, the broker keeps its
// records, topic ids, groups and committed offsets; otherwise it is empty.
func (b *Broker) Start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	configs := map[string]string{
		// The default is for real networks; a test would wait for it.
		"group.consumer.heartbeat.interval.ms": "100",
		"group.consumer.session.timeout.ms":    strconv.FormatInt(cmp.Or(b.options.Session, 45*time.Second).Milliseconds(), 10),
	}
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.BrokerConfigs(configs), kfake.GroupMinSessionTimeout(time.Second),
		kfake.ListenFn(b.listen), kfake.DataDir(b.options.Dir),
	}
	b.counts.Lock()
	defer b.counts.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(b.partitions)) {
		options = append(options, kfake.SeedTopics(b.partitions[topic], topic))
	}
	if b.options.Missing > 0 {
		options = append(options, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(int(b.options.Missing)))
	}
	cluster, err := fakebroker.New(options...)
	if err != nil {
		return fmt.Errorf("start the broker: %w", err)
	}
	if b.options.Missing > 0 { // most clients do not ask the broker to make a topic
		cluster.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
			r.(*kmsg.MetadataRequest).AllowAutoTopicCreation = true
			return nil, nil, false
		})
	}
	b.cluster = cluster
	return nil
}

// Stop stops the broker and closes its connections.
func (b *Broker) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster != nil {
		b.cluster.Close()
		b.cluster = nil
	}
}

var errStopped = errors.New("idemtest: the broker is stopped")

// whileUp calls do, unless the broker is stopped and would not answer.
func (b *Broker) whileUp(do func(*kfake.Cluster)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.cluster != nil {
		do(b.cluster)
	}
}

// group returns the broker's information about a group; nil if it does not exist.
func (b *Broker) group(name string) (info *kfake.GroupInfo) {
	b.whileUp(func(c *kfake.Cluster) { info = c.GroupInfo(name) })
	return info
}
