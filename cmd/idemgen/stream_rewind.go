package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/stream"
)

// rewindCommand moves a position back.
func rewindCommand(flags *streamFlags) *cobra.Command {
	var (
		change    changeFlags
		partition int32
		from, to  int64
		again     bool
	)
	cmd := &cobra.Command{
		Use:   "rewind --consumer C --topic T --partition N --to OFFSET --apply-again --reason TEXT",
		Short: "Move back: what is read again may take effect again",
		Long:  "Moves the position of a partition back: what is read again may take effect again.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("from") && to >= from {
				return fmt.Errorf("--to %d is not before --from %d: rewind moves back only", to, from)
			}
			return change.apply(cmd, flags, []int32{partition}, func(ctx context.Context, db stream.DB, name stream.Name, by stream.By) (stream.Change, error) {
				return stream.Rewind(ctx, db, name, stream.Unmoved(from), to, again, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the partition")
	fromFlag(cmd, &from)
	offsetFlag(cmd, &to, "to", "offset of the next record to apply")
	cmd.Flags().BoolVar(&again, "apply-again", false, "you know that records may take effect again; rewind asks for it, and says why")
	require(cmd, "partition", "to")
	return cmd
}
