package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/stream"
)

// skipCommand moves a position forward.
func skipCommand(flags *streamFlags) *cobra.Command {
	var (
		change    changeFlags
		partition int32
		from, to  int64
	)
	cmd := &cobra.Command{
		Use:   "skip --consumer C --topic T --partition N --to OFFSET --reason TEXT",
		Short: "Move forward: the offsets up to OFFSET pass without effect",
		Long:  "Moves the position of a partition forward: the offsets up to OFFSET pass without effect.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to <= from {
				return fmt.Errorf("--to %d is not behind --from %d: skip moves forward only", to, from)
			}
			return change.apply(cmd, flags, []int32{partition}, func(ctx context.Context, db stream.DB, name stream.Name, by stream.By) (stream.Change, error) {
				return stream.Skip(ctx, db, name, stream.Unmoved(from), to, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition")
	fromFlag(cmd, &from)
	offsetFlag(cmd, &to, "to", "offset of the next record to apply")
	require(cmd, "partition", "to")
	return cmd
}
