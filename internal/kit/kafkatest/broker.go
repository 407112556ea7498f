//go:build unix

package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/kit/program"
)

// Broker is a broker of a Kafka: the first one, which is its controller, or one that joined it. It
// runs until Close, or until this process ends.
type Broker struct {
	server
	addr       string
	controller string
	more       map[string]string // addresses of further listeners
}

// Run starts the first broker of a Kafka. conf is what differs from its settings, as in
// server.properties. Topics are not created by themselves. ctx limits only the start.
func Run(ctx context.Context, conf map[string]string) (*Broker, error) {
	return RunWith(ctx, conf, nil)
}

// RunWith is [Run] with further listeners. protocols maps their names, in capitals, to security
// protocols, which conf sets up.
func RunWith(ctx context.Context, conf, protocols map[string]string) (*Broker, error) {
	addrs, err := freeAddrs(2 + len(protocols))
	if err != nil {
		return nil, err
	}
	more, listeners, protocol := map[string]string{}, "PLAINTEXT://"+addrs[0], "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"
	for i, name := range slices.Sorted(maps.Keys(protocols)) {
		more[name] = addrs[2+i]
		listeners += "," + name + "://" + more[name]
		protocol += "," + name + ":" + protocols[name]
	}
	own := map[string]string{
		"node.id": "1", "process.roles": "broker,controller", "listeners": listeners + ",CONTROLLER://" + addrs[1],
		"advertised.listeners": listeners, "listener.security.protocol.map": protocol,
	}
	maps.Copy(own, conf)
	b, err := start(ctx, addrs[0], addrs[1], own)
	if err == nil {
		b.more = more
	}
	return b, err
}

// Join starts another broker of the same Kafka, whose number is 2 or more. conf is as for [Run].
// Close it before b.
func (b *Broker) Join(ctx context.Context, number int, conf map[string]string) (*Broker, error) {
	addrs, err := freeAddrs(1)
	if err != nil {
		return nil, err
	}
	own := map[string]string{"node.id": strconv.Itoa(number), "process.roles": "broker", "listeners": "PLAINTEXT://" + addrs[0]}
	maps.Copy(own, conf)
	return start(ctx, addrs[0], b.controller, own)
}

// start starts a broker with settings of its own beside those of all.
func start(ctx context.Context, addr, controller string, own map[string]string) (*Broker, error) {
	j, err := newJVM(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idemtest-kafka-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "server.properties")
	settings := brokerSettings(dir, addr, controller)
	maps.Copy(settings, own)
	b := &Broker{server{dir, &program.Program{Dir: dir, Argv: j.argv("384m", "kafka.Kafka", file)}}, addr, controller, nil}
	err = writeProperties(file, settings)
	if err == nil {
		err = j.run(ctx, "kafka.tools.StorageTool", "format", "-t", clusterID, "-c", file)
	}
	if err == nil {
		err = b.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start Kafka: %w", err), b.Close())
	}
	return b, nil
}

// clusterID is any id in the form that Kafka wants.
const clusterID = "aWRlbWdlbi1raXQtMDAwMQ"

// brokerSettings are those of one broker on a small machine that is to start and to share its
// partitions out quickly.
func brokerSettings(dir, addr, controller string) map[string]string {
	return map[string]string{
		"advertised.listeners":           "PLAINTEXT://" + addr,
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":     "PLAINTEXT", "controller.listener.names": "CONTROLLER",
		"controller.quorum.voters":  "1@" + controller,
		"log.dirs":                  filepath.Join(dir, "data"),
		"auto.create.topics.enable": "false", "num.partitions": "1", "delete.topic.enable": "true",
		"offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "4",
		"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1", "transaction.state.log.num.partitions": "4",
		"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1", "share.coordinator.state.topic.num.partitions": "4",
		"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
		"group.consumer.min.session.timeout.ms": "1000", "group.consumer.session.timeout.ms": "6000",
		"group.consumer.min.heartbeat.interval.ms": "500", "group.consumer.heartbeat.interval.ms": "1000",
		"log.cleaner.dedupe.buffer.size": "4194304", "log.retention.check.interval.ms": "1000",
		"log.segment.delete.delay.ms": "1000", "file.delete.delay.ms": "1000",
	}
}

// Addr is the broker's host and port.
func (b *Broker) Addr() string { return b.addr }

// AddrOf is the host and port of a further listener.
func (b *Broker) AddrOf(name string) string { return b.more[name] }

// Restart starts a broker that crashed, at the same address, and waits until it answers.
func (b *Broker) Restart(ctx context.Context) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(b.addr))
	if err != nil {
		return err
	}
	defer c.Close()
	return b.begin(ctx, c.Ping)
}
