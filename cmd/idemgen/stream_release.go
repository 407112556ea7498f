package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/stream"
)

// releaseCommand lets partitions try again.
func releaseCommand(flags *streamFlags) *cobra.Command {
	var (
		change     changeFlags
		partition  int32
		all, older bool
	)
	cmd := &cobra.Command{
		Use:   "release --consumer C --topic T {--partition N | --all} --reason TEXT",
		Short: "The cause is gone: try again",
		Long:  "Lets a partition that stands try again, once the cause is gone.",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if all == cmd.Flags().Changed("partition") {
				return errors.New("want --partition N for one, or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			partitions := []int32{partition}
			if all {
				partitions = everyPartition
			}
			return change.apply(cmd, flags, partitions, func(ctx context.Context, db stream.DB, name stream.Name, by stream.By) (stream.Change, error) {
				return stream.Release(ctx, db, name, older, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition")
	cmd.Flags().BoolVar(&all, "all", false, "every partition of the topic, also those that work: they are taken over again at once")
	cmd.Flags().BoolVar(&older, "older-version-may-run", false,
		"a newer version ran; you know that an older one may apply again what it applied")
	cmd.MarkFlagsOneRequired("partition", "all") // for completion: PreRunE says it in better words
	cmd.MarkFlagsMutuallyExclusive("partition", "all")
	return cmd
}
