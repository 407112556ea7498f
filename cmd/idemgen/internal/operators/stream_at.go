package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/doctor"
	"github.com/idemgen/idemgen/internal/operate"
)

// moment finds the offsets of a topic at a time.
type moment struct {
	command.KafkaFlags
	at    time.Time
	topic kadm.TopicDetail
	found map[int32]kadm.ListedOffset // nil before the brokers were asked
}

func (m *moment) define(cmd *cobra.Command) {
	m.KafkaFlags.Define(cmd)
	cmd.Flags().Var(value{"TIME", func(text string) (err error) {
		if m.at, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("want a time with its zone, such as 2026-11-27T22:00:00Z or 2026-11-27T23:00:00+01:00")
		}
		return nil
	}}, "at", "time of the next record to apply, in place of --to: the first record at or after it")
}

// patience is how long the brokers may take.
const patience = 10 * time.Second

// ask asks the brokers, once.
func (m *moment) ask(ctx context.Context, topic string) error {
	if m.found != nil {
		return nil
	}
	opts, err := m.Options()
	if err == nil && opts == nil {
		err = errors.New("--brokers or $KAFKA_BROKERS missing: --at asks the brokers for offsets")
	}
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("the brokers do not respond within %v, and only they know the offsets of a time: %w\n%s", patience, err, doctor.BrokerAdvice(err))
	}
	admin := kadm.NewClient(client)
	details, err := admin.ListTopics(ctx, topic)
	if err == nil {
		m.topic = details[topic]
		err = m.topic.Err
	}
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	ms := m.at.UnixMilli() // negative ones have a meaning of their own
	if m.at.Nanosecond()%1e6 > 0 {
		ms++
	}
	offsets, err := admin.ListOffsetsAfterMilli(ctx, max(0, ms), topic)
	if err != nil {
		return fmt.Errorf("the brokers did not return the offsets of topic %s at %s: %w", topic, m.at.Format(time.RFC3339Nano), err)
	}
	m.found = offsets[topic]
	return nil
}

// target is where a partition continues.
func (m *moment) target(ctx context.Context, db operate.DB, name operate.Name, to operate.Target) (operate.Target, error) {
	status, err := operate.StreamOf(ctx, db, name)
	if err == nil {
		err = m.ask(ctx, name.Topic)
	}
	if err != nil {
		return to, err
	}
	id, known := m.topic.ID, status.TopicID != "00000000-0000-0000-0000-000000000000"
	if text := fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]); known && text != status.TopicID {
		return to, fmt.Errorf("%v: the topic of these brokers has id %s, the ledger is about %s: offsets of one are not those of the other", name, text, status.TopicID)
	}
	o, is := m.found[name.Partition]
	if !is {
		return to, fmt.Errorf("%v: the brokers have no such partition", name)
	}
	if o.Err != nil {
		return to, fmt.Errorf("%v: the brokers did not return the offset at %s: %w", name, m.at.Format(time.RFC3339Nano), o.Err)
	}
	to.To, to.Found = o.Offset, "the first record at or after "+m.at.Format(time.RFC3339Nano)
	if o.Timestamp < 0 {
		to.Found = fmt.Sprintf("no record at or after %s, so the end of the partition", m.at.Format(time.RFC3339Nano))
	}
	return to, nil
}
