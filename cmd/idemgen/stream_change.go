package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// changeFlags are the flags of all commands that append a row to a ledger.
type changeFlags struct {
	name operate.Name // without the partition
	by   operate.By
}

func (f *changeFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	consumerFlag(cmd, &f.name.Consumer)
	flags.StringVar(&f.name.Topic, "topic", "", "name of the topic")
	flags.StringVar(&f.name.TopicID, "topic-id", "", "UUID of a topic that was made again (default the one seen last)")
	flags.StringVar(&f.by.Reason, "reason", "", "why, as a text that is kept in the ledger")
	flags.StringVar(&f.by.Operator, "operator", "", "name of who acts (default $USER, else the database role)")
	flags.BoolVar(&f.by.DryRun, "dry-run", false, "print the row that would be appended, and append nothing")
	require(cmd, "topic", "reason")
	asJSON(cmd, "changes")
}

// everyPartition stands for all partitions of the topic that have a ledger.
var everyPartition []int32

// verb appends a row to the ledger of one partition.
type verb func(ctx context.Context, db operate.DB, name operate.Name, by operate.By) (operate.Change, error)

// apply connects to the database and runs a command on each of the partitions.
func (f *changeFlags) apply(cmd *cobra.Command, flags *streamFlags, partitions []int32, do verb) error {
	if !cmd.Flags().Changed("operator") {
		f.by.Operator = os.Getenv("USER")
	} else if strings.TrimSpace(f.by.Operator) == "" {
		return errors.New("--operator is empty: the ledger keeps who acted")
	}
	return flags.with(cmd, func(ctx context.Context, db operate.DB) (result, error) {
		consumer, err := theConsumer(ctx, db, f.name.Consumer, f.name.Topic)
		if err != nil {
			return nil, err
		}
		f.name.Consumer = consumer
		var names []operate.Name
		for _, number := range partitions {
			name := f.name
			name.Partition = number
			names = append(names, name)
		}
		if len(names) == 0 {
			if names, err = operate.Partitions(ctx, db, f.name.Consumer, f.name.Topic); err != nil {
				return nil, err
			}
		}
		return f.each(names, func(name operate.Name, by operate.By) (operate.Change, error) { return do(ctx, db, name, by) })
	})
}

// each runs a command on each partition, first without appending: what is refused for one of
// them changes none. One that fails later ends it: what was done before is told.
func (f *changeFlags) each(names []operate.Name, do func(operate.Name, operate.By) (operate.Change, error)) (result, error) {
	if dry := f.by; len(names) > 1 && !f.by.DryRun {
		dry.DryRun = true
		for _, name := range names {
			if _, err := do(name, dry); err != nil {
				return nil, fmt.Errorf("%w; nothing was appended to any partition", err)
			}
		}
	}
	var all changed
	for i, name := range names {
		c, err := do(name, f.by)
		if err != nil && i > 0 {
			err = fmt.Errorf("%w; partitions %s are done, %s are not", err, numbers(names[:i]), numbers(names[i:]))
		}
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

// numbers lists partitions.
func numbers(names []operate.Name) string {
	var all []string
	for _, n := range names {
		all = append(all, fmt.Sprint(n.Partition))
	}
	return strings.Join(all, ", ")
}

// changed is the result of all commands but list.
type changed []operate.Change

func (l changed) member() string { return "changes" }

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
