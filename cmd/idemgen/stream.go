package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemgen/idemgen/internal/operate"
)

// streamCommand holds the commands that show and change the ledgers in a database.
func streamCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Show and mend the ledgers in a database",
		Long: `list shows the ledger of every partition. The others append one row to a ledger, with which a
halted partition goes on. The service needs no restart: it sees the row with its next batch, or,
if it is halted or has no records, within about 5 seconds. The error of a halted partition
prints the whole command; docs/operations.md says what to check before, and what it does
to the guarantee. Nothing else in the database changes.`,
	}
	flags.define(cmd)
	asJSON(cmd)
	cmd.AddCommand(listCommand(&flags), releaseCommand(&flags), setCommand(&flags))
	for _, verb := range cmd.Commands() {
		verb.Args = noArguments
	}
	noCompletions(cmd)
	return cmd
}

// streamFlags are the flags of all commands that work on the runtime's tables.
type streamFlags struct {
	database string
}

// define adds the flags to a command and those below it.
func (f *streamFlags) define(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.database, "database", "", "URL of the service's database (default $DATABASE_URL)")
}

// noCompletions says of each command below one that files complete neither its arguments nor its
// flags.
func noCompletions(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		withoutCompletions(verb)
	}
}

// withoutCompletions says that files complete neither a command's arguments nor its flags.
func withoutCompletions(cmd *cobra.Command) {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // the flag exists, and has no other
	})
}

// result is what a command prints: as text for people, or as a member of its JSON.
type result interface {
	text() string
	member() string
}

// with connects to the database, runs a command and prints its result.
func (f *streamFlags) with(cmd *cobra.Command, do func(ctx context.Context, db operate.DB) (result, error)) error {
	return f.on(cmd, pgconn.ValidateConnectTargetSessionAttrsReadWrite, do)
}

// reads is with for a command that changes nothing: a standby will do.
func (f *streamFlags) reads(cmd *cobra.Command, do func(ctx context.Context, db operate.DB) (result, error)) error {
	return f.on(cmd, nil, do)
}

// on is with, on a server that right takes.
func (f *streamFlags) on(cmd *cobra.Command, right pgconn.ValidateConnectFunc, do func(ctx context.Context, db operate.DB) (result, error)) error {
	db, err := connectTo(cmd.Context(), cmd.ErrOrStderr(), "--database", f.database, right)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := do(cmd.Context(), db)
	if a := answerOf(cmd); r != nil && a.wanted { // also what was done before an error
		a.members[r.member()] = r
	} else if r != nil {
		text := r.text()
		if _, raw := r.(payload); !raw {
			text = visible(text)
		}
		fmt.Fprint(cmd.OutOrStdout(), text)
	}
	return maskConnect(err)
}
