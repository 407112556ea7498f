package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// releaseCommand lets partitions try again.
func releaseCommand(flags *streamFlags) *cobra.Command {
	var (
		change    changeFlags
		leave     operate.Leave
		partition int32
		all       bool
	)
	cmd := &cobra.Command{
		Use:   "release --topic T {--partition N | --all} [--consumer C] [--partitions COUNT] --reason TEXT",
		Short: "The cause is gone: try again",
		Long: `Lets a halted partition try again, once the cause is gone. --partitions COUNT says that the
topic may have so many partitions; a ledger that has this number already is left alone.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if all == cmd.Flags().Changed("partition") {
				return errors.New("want --partition N for one, or --all")
			}
			if cmd.Flags().Changed("partitions") && leave.Partitions == 0 {
				return errors.New("a topic has at least one partition, not 0")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			partitions := []int32{partition}
			if all {
				partitions = everyPartition
			}
			return change.apply(cmd, flags, partitions, func(ctx context.Context, db operate.DB, name operate.Name, by operate.By) (operate.Change, error) {
				return operate.Release(ctx, db, name, leave, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition")
	cmd.Flags().BoolVar(&all, "all", false, "every partition of the topic, also those that work: they are taken over again at once")
	cmd.Flags().BoolVar(&leave.Older, "older-version-may-run", false,
		"a newer version ran; you know that an older one may apply again what it applied")
	partitionsFlag(cmd, &leave.Partitions)
	cmd.Flags().BoolVar(&leave.Fewer, "fewer", false, "COUNT is below the ledger's, which was confirmed by mistake")
	cmd.MarkFlagsOneRequired("partition", "all") // for completion: PreRunE says it in better words
	cmd.MarkFlagsMutuallyExclusive("partition", "all")
	return cmd
}
