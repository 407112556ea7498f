package operators

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
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
	f := findFlags{partition: operate.Any}
	cmd := &cobra.Command{
		Use:   "find TOPIC {--offset PARTITION:OFFSET | --key NAME=VALUE} [--consumer C]",
		Short: "Find out what happened to a record, or to the event with a key",
		Long: `Reports what happened to a record: it was applied, by which row of the ledger and in which
transaction; or it is a duplicate, is a dead letter, waits, was skipped, or has not been seen
yet.

--key names a part of the idempotency key and its value, as a header would contain it. Repeat it
for each part. The key is built as the spec defines it, which is idemgen.yaml here, or --spec. A
key with copies: same_partition is looked up in all rows of the ledgers that have keys;
--partition reads only the rows of one partition. Dead letters are searched for half a second,
the newest first. If --offset is given as well, the record is distinguished from its duplicates.
The command only reads, and a standby is enough.`,
		Args: arguments("TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			parts, err := f.parts()
			if err != nil {
				return err
			}
			return flags.run(cmd, anywhere, "answers", func(ctx context.Context, db operate.DB) (any, error) {
				return f.find(ctx, db, args[0], parts)
			})
		},
	}
	flags.define(cmd)
	command.AsJSON(cmd, "answers")
	consumerFlag(cmd, &f.consumer)
	cmd.Flags().StringVar(&f.offset, "offset", "", "the record, as PARTITION:OFFSET")
	cmd.Flags().StringArrayVar(&f.key, "key", nil, "a part of the event's key, as NAME=VALUE")
	cmd.Flags().StringVar(&f.spec, "spec", generator.SpecFile, "spec that defines the keys")
	cmd.Flags().StringVar(&f.event, "event", "", "name of the event in the spec (default all with such a key)")
	cmd.Flags().Var(natural(&f.partition), "partition", "look for the key in this partition only")
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

// find answers for the record, or for each event that may have the key.
func (f *findFlags) find(ctx context.Context, db operate.DB, topic string, parts []generator.KeyPart) (any, error) {
	var at *operate.Place
	if f.offset != "" {
		p, err := place(f.offset)
		if err != nil {
			return nil, err
		}
		at = &p
	}
	consumer, keys, err := f.keys(topic, parts)
	if err == nil {
		consumer, err = theConsumer(ctx, db, consumer, topic)
	}
	if err != nil {
		return nil, err
	}
	found, err := operate.Find(ctx, db, operate.Name{Consumer: consumer, Topic: topic, Partition: f.partition}, at, keys)
	if err != nil {
		return nil, err
	}
	return struct {
		Answers []operate.Answer `json:"answers"`
	}{found}, nil
}

// keys makes the keys, and finds the consumer that is meant; "" if nothing tells.
func (f *findFlags) keys(topic string, parts []generator.KeyPart) (consumer string, keys []generator.EventKey, err error) {
	if parts == nil {
		return f.consumer, nil, nil
	}
	specs, err := command.FindSpecs([]string{f.spec})
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
