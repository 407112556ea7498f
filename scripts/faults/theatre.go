package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const (
	partitions = 4
	// maxPoll is how long a broker waits for a member that joined and then fell silent, by the
	// spec 5 minutes; the service's source waits up to 10 s for partitions to be taken over.
	maxPoll = 12 * time.Second
	// session is how long it waits for one that fell silent, if it shares partitions out itself.
	session = 1500 * time.Millisecond
)

// theatre is the stage of one fault: servers, a topic and processes of its own.
type theatre struct {
	*servers
	*topicLog
	*processes
	*outages
	kit     *kit
	fault   fault
	users   *users        // of fault.users; nil if the orders example suffers
	env     []string      // of all its processes
	paid    audit.Handler // what the handler of OrderPaid must do
	library func() string // the Kafka client of the next process; nil is the same for all
	monitor *monitor
}

func (k *kit) open(ctx context.Context, f fault) (_ *theatre, err error) {
	t := &theatre{kit: k, fault: f, servers: &servers{}, topicLog: newTopicLog(), processes: newProcesses(), outages: &outages{}, paid: f.paid}
	if t.paid == nil {
		t.paid = audit.AddPayment
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	dir, topic, setUp := example, shop.Topic, audit.JournalSQL
	if f.users != nil {
		if t.users, err = newUsers(f.users); err != nil {
			return t, err
		}
		t.next, t.env = t.users.next, []string{script.Provider + "=" + t.users.provider}
		dir, topic, setUp = f.users.dir, usersTopic, f.users.setUp()
	}
	if err := t.startServers(ctx, f, dir, setUp); err != nil {
		return t, err
	}
	if err := t.startBroker(topic, f.kept); err != nil {
		return t, err
	}
	t.monitor = startMonitor(ctx, t)
	return t, nil
}

func (t *theatre) close() error {
	if t.monitor != nil {
		t.monitor.end()
	}
	err := errors.Join(t.processes.close(), t.topicLog.close(), t.servers.close())
	if t.users != nil {
		err = errors.Join(err, os.Remove(t.users.provider))
	}
	return err
}

// start starts a process of the service with more environment.
func (t *theatre) start(ctx context.Context, env ...string) (*stage.Process, error) {
	if t.users != nil {
		return t.launch(ctx, env, t.kit.program("pinger"), t.group())
	}
	return t.launch(ctx, env, t.kit.program("service"))
}

// group is the consumer of the service.
func (t *theatre) group() string {
	if t.users != nil {
		return t.users.of.consumer
	}
	return t.kit.service.Consumer
}

func (t *theatre) launch(ctx context.Context, env []string, argv ...string) (*stage.Process, error) {
	id := fmt.Sprintf("process-%d", len(t.started))
	env = append([]string{
		script.Client + "=" + id, script.Protocol + "=" + t.fault.protocol, script.MaxPoll + "=" + maxPoll.String(),
		script.Brokers + "=" + t.kafka.Addr().String(), script.Database + "=" + t.dsn,
	}, slices.Concat(t.drawn(), t.env, env)...)
	p, err := stage.Start(ctx, env, argv...)
	if err != nil {
		return nil, err
	}
	t.add(p, id)
	return p, nil
}

// drawn is the environment that names the Kafka client, if it is drawn.
func (t *theatre) drawn() []string {
	if t.library == nil {
		return nil
	}
	return []string{script.Library + "=" + t.library()}
}

// startWorking starts n processes and waits until one of them owns a partition.
func (t *theatre) startWorking(ctx context.Context, n int, env ...string) error {
	for range n {
		if _, err := t.start(ctx, env...); err != nil {
			return err
		}
	}
	return stage.Until(ctx, 30*time.Second, func() (bool, error) { return slices.ContainsFunc(t.running, (*stage.Process).Owns), t.dead() })
}
