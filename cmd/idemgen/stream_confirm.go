package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/stream"
)

// confirmCommand says how many partitions a topic may have.
func confirmCommand(flags *streamFlags) *cobra.Command {
	var (
		change           changeFlags
		partition, count int32
		fewer            bool
	)
	cmd := &cobra.Command{
		Use:   "confirm-partitions --consumer C --topic T --partitions COUNT --reason TEXT",
		Short: "The topic may have COUNT partitions",
		Long:  "Says that the topic may have COUNT partitions, to the partition that is named or to all that have a ledger.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			partitions := everyPartition
			if cmd.Flags().Changed("partition") {
				partitions = []int32{partition}
				if partition >= count && !fewer {
					return noneOf(partition, count)
				}
			}
			return change.apply(cmd, flags, partitions, func(ctx context.Context, db stream.DB, name stream.Name, by stream.By) (stream.Change, error) {
				return stream.ConfirmPartitions(ctx, db, name, count, fewer, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition (default all that have a ledger)")
	partitionsFlag(cmd, &count)
	cmd.Flags().BoolVar(&fewer, "fewer", false, "COUNT is below the ledger's, which was confirmed by mistake")
	require(cmd, "partitions")
	return cmd
}

func noneOf(partition, count int32) error {
	return fmt.Errorf("--partition %d is none of %d: they are numbered from 0", partition, count)
}
