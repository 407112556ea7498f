package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/admin"
	"github.com/idemgen/idemgen/scripts/internal/shop"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// topicChecks are about what the runtime asks the broker of its topics.
var topicChecks = []check{
	{name: "a topic made again while the service runs", do: recreated},
	{name: "records deleted before they were read", long: true, do: overtaken},
	{name: "an unclean leader election", long: true, do: uncleanElection},
	{name: "partitions are added", long: true, do: grown},
	{name: "effects with leases in Redis", beside: true, do: mails},
}

// remedy is a command that a halted partition names, in what the service logs.
var remedy = regexp.MustCompile(`idemgen stream [a-z-]+ --consumer \S+ --topic \S+[^"\n]*? --reason ([a-z-]+)`)

// halted waits until partitions that halt for a reason name n commands, and returns them.
func (s *shopStage) halted(ctx context.Context, n int, code halt.Code) ([]string, error) {
	named := map[string]string{} // the last way out that is named, which skips nothing, by what is before its offset
	err := stage.Until(ctx, patience, func() (bool, error) {
		clear(named)
		for _, p := range s.started {
			for _, m := range remedy.FindAllStringSubmatch(string(p.Log.All()), -1) {
				if m[1] == string(code) {
					which, _, _ := strings.Cut(m[0], " --to ")
					named[which] = m[0]
				}
			}
		}
		return len(named) >= n, s.dead()
	})
	commands := slices.Sorted(maps.Values(named))
	if errors.Is(err, stage.ErrTimeout) {
		err = fmt.Errorf("%d partitions halted with %s and named a command, want %d; last lines:\n%s", len(commands), code, n, s.running[0].Log)
	}
	return commands, err
}

// begun is a service of two processes that has applied some records.
func (k *kit) begun(ctx context.Context) (*shopStage, error) {
	s, err := k.openShop(ctx, "")
	if err != nil {
		return nil, err
	}
	if err = s.works(ctx, 2); err == nil {
		err = s.send(ctx, s.events(600)...)
	}
	if err == nil {
		err = s.caughtUp(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// goesOn does what halted partitions ask for, and holds that the rest of the log is applied.
func (s *shopStage) goesOn(ctx context.Context, commands []string) error {
	if err := s.obey(ctx, commands); err != nil {
		return err
	}
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	if err := s.stopAll(); err != nil {
		return err
	}
	return s.right(ctx)
}

// recreated makes the topic again under the service. Its new records stay below the old positions
// until the service has looked at the topic's id, as it does every five seconds: what comes
// meanwhile is not promised.
func recreated(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.begun(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := k.removeTopic(ctx, shop.Topic); err != nil {
		return "", err
	}
	if err := k.makeTopic(ctx, shop.Topic, partitions); err != nil {
		return "", err
	}
	hidden := s.events(200)
	if err := k.produce(ctx, hidden...); err != nil {
		return "", err
	}
	commands, err := s.halted(ctx, partitions, halt.TopicRecreated)
	if err != nil {
		return "", err
	}
	for i, m := range s.log { // what was applied of the old topic comes before the new one
		s.log[i] = shop.Again(m)
		s.log[i].Offset = -1
	}
	clear(s.ends)
	if err := s.right(ctx); err != nil {
		return "", fmt.Errorf("while it stands: %w", err)
	}
	s.sent(hidden...)
	if err := s.send(ctx, s.events(1000)...); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d partitions halted, and went on by idemgen stream set", len(commands)), s.goesOn(ctx, commands)
}

// overtaken deletes records of a partition that the service had not read, but for the last five.
func overtaken(ctx context.Context, k *kit) (_ string, err error) {
	const victim = 1
	s, err := k.begun(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.stopAll(); err != nil {
		return "", err
	}
	passed := s.ends[victim]
	hidden := s.events(600)
	if err := k.produce(ctx, hidden...); err != nil {
		return "", err
	}
	var of []*wire.Message
	for _, m := range hidden {
		if m.Partition == victim {
			of = append(of, m)
		}
	}
	low := of[len(of)-5].Offset
	var below kadm.Offsets
	below.AddOffset(shop.Topic, victim, low, -1)
	err = k.admin(func(c *admin.Client) error {
		deleted, err := c.DeleteRecords(ctx, below)
		return errors.Join(err, deleted.Error())
	})
	if err != nil {
		return "", err
	}
	s.sent(slices.DeleteFunc(hidden, func(m *wire.Message) bool { return m.Partition == victim && m.Offset < low })...)
	if err := s.start(ctx); err != nil {
		return "", err
	}
	commands, err := s.halted(ctx, 1, halt.RetentionPassed)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d of partition %d; it halted, and went on by idemgen stream set", low-passed, victim), s.goesOn(ctx, commands)
}

// grown adds partitions to the topic.
func grown(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.begun(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.stopAll(); err != nil {
		return "", err
	}
	err = k.admin(func(c *admin.Client) error {
		made, err := c.UpdatePartitions(ctx, partitions+2, shop.Topic)
		return errors.Join(err, made.Error())
	})
	if err != nil {
		return "", err
	}
	if err := s.start(ctx); err != nil {
		return "", err
	}
	commands, err := s.halted(ctx, 1, halt.PartitionsChanged)
	if err != nil {
		return "", err
	}
	if err := s.obey(ctx, commands); err != nil {
		return "", err
	}
	if err := s.send(ctx, s.events(300)...); err != nil {
		return "", err
	}
	return "from 4 to 6; all halted, and went on by idemgen stream release", s.goesOn(ctx, nil)
}
