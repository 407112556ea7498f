package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemgen/idemgen/runtime/stream"
)

// streamCommand holds the commands that show and change the ledgers in a database.
func streamCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Show and mend the ledgers in a database",
		Long: `list shows the ledger of every partition. The others append one row to a ledger, with which a
partition that stands goes on. The service needs no restart: it sees the row with its next
batch, or, if it stands or has no records, within about 5 seconds. The error of a partition that
stands prints the whole command; docs/operations.md says what to check before, and what it does
to the guarantee. Nothing else in the database changes.`,
	}
	cmd.PersistentFlags().StringVar(&flags.database, "database", "", "URL of the service's database (default $DATABASE_URL)")
	asJSON(cmd, &flags.json)
	cmd.AddCommand(listCommand(&flags), confirmCommand(&flags), adoptCommand(&flags),
		skipCommand(&flags), rewindCommand(&flags), releaseCommand(&flags))
	for _, verb := range cmd.Commands() {
		verb.Args, verb.ValidArgsFunction = noArguments, cobra.NoFileCompletions
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			_ = verb.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // the flag exists, and has no other
		})
	}
	return cmd
}

// streamFlags are the flags of all commands of stream.
type streamFlags struct {
	database string
	json     bool
}

// result is what a command prints: as JSON, or as text for people.
type result interface{ text() string }

// with connects to the database, runs a command and prints its result.
func (f *streamFlags) with(cmd *cobra.Command, do func(ctx context.Context, db stream.DB) (result, error)) error {
	db, err := f.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := do(cmd.Context(), db)
	failed := f.print(cmd, r) // also what was done before an error
	if err != nil {
		return maskConnect(err)
	}
	return failed
}

// print prints a result; none is printed as nothing.
func (f *streamFlags) print(cmd *cobra.Command, r result) error {
	switch {
	case r == nil:
		return nil
	case f.json:
		return printJSON(cmd, r)
	}
	_, err := cmd.OutOrStdout().Write([]byte(r.text()))
	return err
}

// require marks flags that must be given.
func require(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(errors.Join(errors.New("a command requires a flag that it does not have"), err))
		}
	}
}
