package main

import (
	"context"

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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := change.who(cmd); err != nil {
				return err
			}
			return flags.with(cmd, func(ctx context.Context, db stream.DB) (result, error) {
				release := func(n stream.Name) (stream.Change, error) {
					return stream.Release(ctx, db, n, older, change.by)
				}
				if all {
					return change.everyPartition(ctx, db, release)
				}
				return one(release(change.partition(partition)))
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition")
	cmd.Flags().BoolVar(&all, "all", false, "every partition of the topic, also those that work: they are taken over again at once")
	cmd.Flags().BoolVar(&older, "older-version-may-run", false,
		"a newer version ran; you know that an older one may apply again what it applied")
	cmd.MarkFlagsOneRequired("partition", "all")
	cmd.MarkFlagsMutuallyExclusive("partition", "all")
	return cmd
}
