package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/operate"
)

// findFlags are the flags of find.
type findFlags struct {
	consumer, offset, spec, event string
	key                           []string
	partition                     int32
}

// findCommand says what became of a record.
func findCommand() *cobra.Command {
	var flags streamFlags
	f := findFlags{partition: -1}
	cmd := &cobra.Command{
		Use:   "find TOPIC {--offset PARTITION:OFFSET | --key NAME=VALUE} [--consumer C]",
		Short: "Say what became of a record, or of the event with a key",
		Long: `Says what became of a record: it was applied, by which row of the ledger and which transaction; it
is a duplicate, a dead letter, waits, was skipped, or was not seen yet.

--key names a part of the idempotency key and its value, as a header would hold it; it is given once
for each part. The key is made as the spec says, which is idemgen.yaml here, or --spec. A key of
copies: same_partition is looked for in all rows of the ledgers that have keys; --partition reads
those of one only. With --offset as well, the record is told apart from its copies. It reads only, and
a standby will do.`,
		Args: arguments("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			parts, err := f.parts()
			if err != nil {
				return err
			}
			return flags.reads(cmd, func(ctx context.Context, db operate.DB) (result, error) {
				return f.find(ctx, db, args[0], parts)
			})
		},
	}
	flags.define(cmd)
	asJSON(cmd, "answers")
	consumerFlag(cmd, &f.consumer)
	cmd.Flags().StringVar(&f.offset, "offset", "", "the record, as PARTITION:OFFSET")
	cmd.Flags().StringArrayVar(&f.key, "key", nil, "a part of the event's key, as NAME=VALUE")
	cmd.Flags().StringVar(&f.spec, "spec", generator.SpecFile, "the spec that says how keys are made")
	cmd.Flags().StringVar(&f.event, "event", "", "the event's name in the spec (default all with such a key)")
	partitionFlag(cmd, &f.partition, "look for the key in this partition only")
	withoutCompletions(cmd)
	return cmd
}

// parts reads --key.
func (f *findFlags) parts() (parts []generator.KeyPart, err error) {
	for _, text := range f.key {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, errors.New("--key wants NAME=VALUE, the name of a field or header and its value")
		}
		parts = append(parts, generator.KeyPart{Name: name, Text: value})
	}
	if f.offset == "" && parts == nil {
		return nil, errors.New("find needs --offset PARTITION:OFFSET or --key NAME=VALUE")
	}
	return parts, nil
}

// find answers for the offset, or for each event that may have the key.
func (f *findFlags) find(ctx context.Context, db operate.DB, topic string, parts []generator.KeyPart) (result, error) {
	consumer, keys, err := f.keys(topic, parts)
	if err != nil {
		return nil, err
	}
	if consumer, err = theConsumer(ctx, db, consumer, topic); err != nil {
		return nil, err
	}
	a := answers{consumer: consumer, topic: topic}
	var of *operate.Answer
	if f.offset != "" {
		partition, offset, err := place(f.offset)
		if err != nil {
			return nil, err
		}
		at, err := operate.FindOffset(ctx, db, operate.Name{Consumer: consumer, Topic: topic, Partition: partition}, offset)
		if err != nil {
			return nil, err
		}
		of, a.partition, a.offset = &at, partition, offset
	}
	for _, k := range keys {
		answer, err := operate.FindKey(ctx, db, consumer, topic, f.partition, operate.Key(k))
		if err != nil {
			return nil, err
		}
		if l := answer.Letter; l == nil || !slices.ContainsFunc(a.found, func(f operate.Answer) bool { return f.Letter != nil && f.Letter.Place == l.Place }) {
			a.found = append(a.found, answer)
		}
	}
	if of != nil {
		a.found = []operate.Answer{matched(a.partition, a.offset, *of, a.found)}
	}
	return a.best(), nil
}

// keys makes the keys, and finds the consumer that is meant; "" if nothing tells.
func (f *findFlags) keys(topic string, parts []generator.KeyPart) (consumer string, keys []generator.EventKey, err error) {
	if parts == nil {
		return f.consumer, nil, nil
	}
	specs, err := findSpecs([]string{f.spec})
	if err != nil {
		return "", nil, err
	}
	if len(specs) != 1 {
		return "", nil, fmt.Errorf("--spec %s names %d specs: name the one of the service", f.spec, len(specs))
	}
	of, keys, err := generator.Keys(specs[0], topic, f.event, parts)
	if err == nil && f.consumer != "" && f.consumer != of {
		err = fmt.Errorf("%s is the spec of consumer %s, not of %s: give --spec", specs[0].Path, of, f.consumer)
	}
	return of, keys, err
}

// matched tells the record apart from copies, by the first key that is held.
func matched(partition int32, offset int64, at operate.Answer, keys []operate.Answer) operate.Answer {
	for _, k := range keys {
		if k.Row != nil {
			return operate.Match(offset, partition, at, k)
		}
	}
	return at
}

// answers is the result of find.
type answers struct {
	consumer, topic string
	partition       int32
	offset          int64
	found           []operate.Answer
}

// best leaves out the events that nobody applied, if another one with the key was.
func (a answers) best() answers {
	held := slices.DeleteFunc(slices.Clone(a.found), func(f operate.Answer) bool { return f.Verdict == operate.NotSeen || f.Verdict == operate.Unknown })
	if len(held) == 0 {
		held = a.found[:1]
	}
	a.found = held
	return a
}

func (a answers) member() string { return "answers" }

// MarshalJSON writes the answers only.
func (a answers) MarshalJSON() ([]byte, error) { return plainJSON(a.found) }

func (a answers) text() string {
	var b strings.Builder
	for i := range a.found {
		f := &a.found[i]
		fmt.Fprintf(&b, "%s\n", f.Verdict)
		wrap(&b, f.Because)
		if f.Event != "" && f.Row != nil {
			wrap(&b, "event "+f.Event)
		}
		if f.Letter != nil {
			wrap(&b, "idemgen dead show "+letterName(f.Letter.Consumer, f.Letter.Topic, f.Letter.Partition, f.Letter.Offset))
		}
		if f.Key != "" {
			wrap(&b, "key "+f.Key)
		}
		if c := f.Call; c != nil {
			text := fmt.Sprintf("its call is %s, since %s, after %d attempts", c.State, c.ChangedAt.Format(time.RFC3339), c.Attempts)
			if c.Error != "" {
				text += ": " + c.Error
			}
			wrap(&b, text)
		}
	}
	return b.String()
}
