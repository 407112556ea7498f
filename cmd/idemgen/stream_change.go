package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/stream"
)

// changeFlags are the flags of all commands that append a row to a ledger.
type changeFlags struct {
	name stream.Name // without the partition
	by   stream.By
}

func (f *changeFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name.Consumer, "consumer", "", "name of the consumer, as the spec has it")
	flags.StringVar(&f.name.Topic, "topic", "", "name of the topic")
	flags.StringVar(&f.name.TopicID, "topic-id", "", "UUID of a topic that was made again (default the one seen last)")
	flags.StringVar(&f.by.Reason, "reason", "", "why, as a text that is kept in the ledger")
	flags.StringVar(&f.by.Operator, "operator", "", "name of who acts (default $USER, else the database role)")
	flags.BoolVar(&f.by.DryRun, "dry-run", false, "print the row that would be appended, and append nothing")
	require(cmd, "consumer", "topic", "reason")
}

// who completes who acts, and refuses a name that was given empty.
func (f *changeFlags) who(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("operator") {
		f.by.Operator = os.Getenv("USER")
	} else if strings.TrimSpace(f.by.Operator) == "" {
		return errors.New("--operator is empty: the ledger keeps who acted")
	}
	return nil
}

// partition is the stream of one partition.
func (f *changeFlags) partition(number int32) stream.Name {
	name := f.name
	name.Partition = number
	return name
}

// everyPartition runs a command on all partitions of the topic that have a ledger.
func (f *changeFlags) everyPartition(ctx context.Context, db stream.DB, do func(stream.Name) (stream.Change, error)) (result, error) {
	names, err := stream.Partitions(ctx, db, f.name.Consumer, f.name.Topic)
	if err != nil {
		return nil, err
	}
	return several(names, do)
}

// several runs a command on each partition. One that fails ends it: what was done before is
// told.
func several(names []stream.Name, do func(stream.Name) (stream.Change, error)) (result, error) {
	var all changed
	for _, n := range names {
		c, err := do(n)
		if err != nil {
			return all, fmt.Errorf("%w; %d of %d partitions are done", err, len(all), len(names))
		}
		all = append(all, c)
	}
	return all, nil
}

func one(c stream.Change, err error) (result, error) {
	if err != nil {
		return nil, err
	}
	return changed{c}, nil
}

// changed is the result of all commands but list.
type changed []stream.Change

func (l changed) text() string {
	var b strings.Builder
	for _, c := range l {
		if c.Kind == "" {
			fmt.Fprintf(&b, "%s/%d of %s: %s\n", c.Topic, c.Partition, c.Consumer, c.Effect)
			continue
		}
		did := "appended"
		if !c.Appended {
			did = "would append"
		}
		fmt.Fprintf(&b, "%s/%d of %s: %s row %d (%s), offset %d -> %d: %s. %q\n",
			c.Topic, c.Partition, c.Consumer, did, c.Seq, c.Kind, c.From, c.To, c.Effect, c.Info)
	}
	return b.String()
}
