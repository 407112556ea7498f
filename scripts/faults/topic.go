package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// topicFaults change the topic under the service. It must stop, say why and skip nothing, and
// go on by the command that it names.
var topicFaults = []fault{
	{name: "topic made again while stopped", do: recreatedStopped},
	{name: "topic made again while running", do: recreatedRunning},
	{name: "retention passed the position while stopped", do: retentionStopped},
	{name: "retention passed the position while running", do: retentionRunning},
	{name: "partitions added while stopped", do: partitionsAddedStopped},
	{name: "partitions added while running", do: partitionsAddedRunning},
}

// applied sends records, and waits until they are applied.
func (t *theatre) applied(ctx context.Context, n int) error {
	if err := t.produce(ctx, n); err != nil {
		return err
	}
	return t.caughtUp(ctx)
}

// begun is a service of two processes that has applied 1,000 records.
func (t *theatre) begun(ctx context.Context) error {
	if err := t.startWorking(ctx, 2); err != nil {
		return err
	}
	return t.applied(ctx, 1000)
}

// hide sends records that nobody may apply for now.
func (l *topicLog) hide(ctx context.Context, n int) ([]*wire.Message, error) {
	l.making.Lock()
	defer l.making.Unlock()
	messages := events(n)(l.shop)
	return messages, l.broker.Produce(ctx, messages...)
}

// recreate makes the topic again. What was applied of the old one stays: it stands before
// the first record of the new one.
func (l *topicLog) recreate() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, m := range l.log {
		l.log[i] = shop.Again(m)
		l.log[i].Offset = -1
	}
	clear(l.ends)
	return l.broker.Recreate(shop.Topic)
}

func recreatedStopped(ctx context.Context, t *theatre) (string, error) {
	if err := t.begun(ctx); err != nil {
		return "", err
	}
	if err := t.stopAll(); err != nil {
		return "", err
	}
	if err := t.recreate(); err != nil {
		return "", err
	}
	hidden, err := t.hide(ctx, 3000)
	if err != nil {
		return "", err
	}
	if err := t.startWaiting(ctx); err != nil {
		return "", err
	}
	return t.adopted(ctx, hidden)
}

// recreatedRunning makes the topic again under the service, and fills it. What is noticed
// only between two looks at the topic's id would not show before the old position is
// reached, which takes longer here.
func recreatedRunning(ctx context.Context, t *theatre) (string, error) {
	if err := t.begun(ctx); err != nil {
		return "", err
	}
	if err := t.recreate(); err != nil {
		return "", err
	}
	var hidden []*wire.Message
	for range 80 {
		some, err := t.hide(ctx, 20)
		if err != nil {
			return "", err
		}
		hidden = append(hidden, some...)
		if err := stage.Pause(ctx, 350*time.Millisecond); err != nil {
			return "", err
		}
	}
	return t.adopted(ctx, hidden)
}

// adopted demands that every partition halts because its topic was made again, and that the
// commands lead to the new one, from its beginning.
func (t *theatre) adopted(ctx context.Context, hidden []*wire.Message) (string, error) {
	commands, err := t.halted(ctx, partitions, halt.TopicRecreated)
	if err != nil {
		return "", err
	}
	if found, err := t.audit(ctx); err != nil || len(found) > 0 {
		return "", fmt.Errorf("while it stands: %v, %w", found, err)
	}
	t.sent(hidden...)
	return fmt.Sprintf("once; %d partitions halted, and went on by idemgen stream set", len(commands)), t.comeBack(ctx, commands)
}

// startWaiting starts a process whose partitions must all stand.
func (t *theatre) startWaiting(ctx context.Context) error {
	_, err := t.start(ctx)
	return err
}

func retentionStopped(ctx context.Context, t *theatre) (string, error) {
	if err := t.begun(ctx); err != nil {
		return "", err
	}
	if err := t.stopAll(); err != nil {
		return "", err
	}
	return t.overtake(ctx, func() error { return t.startWaiting(ctx) })
}

// retentionRunning overtakes a process that is frozen meanwhile.
func retentionRunning(ctx context.Context, t *theatre) (string, error) {
	p, err := t.start(ctx, script.Session+"=30000", script.MaxPoll+"=60s")
	if err != nil {
		return "", err
	}
	if err := t.applied(ctx, 1000); err != nil {
		return "", err
	}
	if err := p.Freeze(); err != nil {
		return "", err
	}
	// The broker answers the fetch that waits, with nothing, before there is something.
	if err := stage.Pause(ctx, time.Second); err != nil {
		return "", err
	}
	return t.overtake(ctx, p.Thaw)
}

// overtake deletes the records of one partition that were not read, but for the last five.
// It must halt, while the others are read on, and then go on with those five.
func (t *theatre) overtake(ctx context.Context, begin func() error) (string, error) {
	const victim = 1
	passed := t.monitor.partitions()[victim]
	hidden, err := t.hide(ctx, 1000)
	if err != nil {
		return "", err
	}
	low := t.broker.Ends(shop.Topic)[victim] - 5
	if err := t.broker.DeleteRecords(shop.Topic, victim, low); err != nil {
		return "", err
	}
	t.sent(slices.DeleteFunc(slices.Clone(hidden), func(m *wire.Message) bool { return m.Partition == victim })...)
	if err := begin(); err != nil {
		return "", err
	}
	commands, err := t.halted(ctx, 1, halt.RetentionPassed)
	if err != nil {
		return "", err
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", fmt.Errorf("the other partitions: %w", err)
	}
	if now := t.monitor.partitions()[victim]; now != passed {
		return "", fmt.Errorf("partition %d went from %d to %d", victim, passed, now)
	}
	t.sent(slices.DeleteFunc(hidden, func(m *wire.Message) bool { return m.Partition != victim || m.Offset < low })...)
	return "once; its partition halted, the others went on; it did by idemgen stream set", t.comeBack(ctx, commands)
}

func partitionsAddedStopped(ctx context.Context, t *theatre) (string, error) {
	if err := t.begun(ctx); err != nil {
		return "", err
	}
	if err := t.stopAll(); err != nil {
		return "", err
	}
	if err := t.broker.CreatePartitions(ctx, shop.Topic, partitions+2); err != nil {
		return "", err
	}
	if err := t.startWaiting(ctx); err != nil {
		return "", err
	}
	return t.confirmed(ctx)
}

func partitionsAddedRunning(ctx context.Context, t *theatre) (string, error) {
	if err := t.begun(ctx); err != nil {
		return "", err
	}
	if err := t.broker.CreatePartitions(ctx, shop.Topic, partitions+2); err != nil {
		return "", err
	}
	return t.confirmed(ctx)
}

// confirmed demands that partitions halt because there are more, and go on, with the new ones,
// when somebody has said for the topic that this is right.
func (t *theatre) confirmed(ctx context.Context) (string, error) {
	commands, err := t.halted(ctx, 1, halt.PartitionsChanged)
	if err != nil {
		return "", err
	}
	if err := t.comeBack(ctx, commands); err != nil {
		return "", err
	}
	err = t.compose(ctx, func(m *shop.Maker) []*wire.Message {
		list := events(300)(m)
		for p := range int32(2) { // orders in the new partitions, which get no more records
			e := m.Placed("")
			m.Forget()
			e.Partition = partitions + p
			list = append(list, e)
		}
		return list
	})
	return "4 become 6; they halted, and went on by idemgen stream release", err
}
