package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// shardCommand says which of a consumer's databases one is.
func shardCommand(flags *streamFlags) *cobra.Command {
	var (
		consumer string
		is       operate.Shard
		by       operate.By
	)
	cmd := &cobra.Command{
		Use:   "shard --consumer C --number N --of COUNT --reason TEXT",
		Short: "Record which shard of a consumer the database is",
		Long: `Records that the database is shard N of COUNT of a consumer (idem.WithShards). Processes that take
it for another one halt. docs/scaling.md says when to use it: the rows of the partitions must be
where their shard is.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, onPrimary, "changes", func(ctx context.Context, db operate.DB) (any, error) {
				all, err := operate.Reshard(ctx, db, consumer, is, by)
				return struct {
					Changes []operate.Change `json:"changes"`
				}{all}, err
			})
		},
	}
	cmd.Flags().StringVar(&consumer, "consumer", "", "name of the consumer, as the spec has it")
	cmd.Flags().Var(natural(&is.Number), "number", "number of the shard, from 0")
	cmd.Flags().Var(natural(&is.Of), "of", "how many shards there are")
	byFlags(cmd, &by)
	require(cmd, "consumer", "number", "of")
	asJSON(cmd, "changes")
	return cmd
}
