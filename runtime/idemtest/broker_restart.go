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
)

// Start starts a broker that was stopped, at the same address. With a Dir it has what it had:
// records, topic ids, groups and their offsets; without, it is new.
func (b *Broker) Start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	configs := map[string]string{
		// Defaults are made for networks; a test waits for them.
		"group.consumer.heartbeat.interval.ms": "100",
		"group.consumer.session.timeout.ms":    strconv.FormatInt(cmp.Or(b.options.Session, 45*time.Second).Milliseconds(), 10),
	}
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.BrokerConfigs(configs), kfake.GroupMinSessionTimeout(time.Second),
		kfake.ListenFn(b.listen), kfake.DataDir(b.options.Dir),
	}
	for _, topic := range slices.Sorted(maps.Keys(b.partitions)) {
		options = append(options, kfake.SeedTopics(b.partitions[topic], topic))
	}
	if b.options.Missing > 0 {
		options = append(options, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(int(b.options.Missing)))
	}
	cluster, err := kfake.NewCluster(options...)
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

// Stop stops the broker: its connections are cut, and it is asked nothing more.
func (b *Broker) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cluster != nil {
		b.cluster.Close()
		b.cluster = nil
	}
}

var errStopped = errors.New("idemtest: the broker is stopped")

// whileUp does something with the broker, or nothing while it is stopped: it would not answer.
func (b *Broker) whileUp(do func(*kfake.Cluster)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.cluster != nil {
		do(b.cluster)
	}
}

// group is what the broker knows of a group; nil if nothing.
func (b *Broker) group(name string) (info *kfake.GroupInfo) {
	b.whileUp(func(c *kfake.Cluster) { info = c.GroupInfo(name) })
	return info
}
