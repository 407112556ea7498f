package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// consumerFlag adds the flag by which every command about one topic names the consumer.
func consumerFlag(cmd *cobra.Command, consumer *string) {
	cmd.Flags().StringVar(consumer, "consumer", "", "name of the consumer, as the spec has it (default the only one with a ledger of the topic)")
}

// theConsumer returns the consumer that is named or, if none is, the only one with a ledger of the
// topic.
func theConsumer(ctx context.Context, db operate.DB, named, topic string) (string, error) {
	if named != "" {
		return named, nil
	}
	all, err := operate.List(ctx, db, "")
	if err != nil {
		return "", err
	}
	var topics, consumers []string
	for i := range all {
		topics = append(topics, all[i].Topic)
		if all[i].Topic == topic {
			consumers = append(consumers, all[i].Consumer)
		}
	}
	slices.Sort(topics)
	slices.Sort(consumers)
	consumers, topics = slices.Compact(consumers), slices.Compact(topics)
	switch {
	case len(all) == 0:
		return "", errors.New("this database has no ledger: is it the right one?")
	case len(consumers) == 0:
		return "", fmt.Errorf("this database has no ledger of topic %s; it has topics %s", topic, strings.Join(topics, ", "))
	case len(consumers) > 1:
		return "", fmt.Errorf("several consumers have a ledger of %s: name one with --consumer: %s", topic, strings.Join(consumers, ", "))
	}
	return consumers[0], nil
}
