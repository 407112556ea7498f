package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// deadCommand holds the commands for the dead letters in a database.
func deadCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "Replay or discard dead letters",
		Long: `Each command asks the owner of the letter's partition, which does it between two batches, within
about 5 seconds, and writes the answer beside the letter. If no service runs, the next one that
takes the partition over does it.`,
	}
	cmd.PersistentFlags().StringVar(&flags.database, "database", "", "URL of the service's database (default $DATABASE_URL)")
	asJSON(cmd)
	cmd.AddCommand(replayCommand(&flags), discardCommand(&flags))
	for _, verb := range cmd.Commands() {
		verb.ValidArgsFunction = cobra.NoFileCompletions
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			_ = verb.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // the flag exists, and has no other
		})
	}
	return cmd
}
