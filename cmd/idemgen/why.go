package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/inspect"
	"github.com/idemgen/idemgen/runtime/stream"
)

// whyCommand says which batch of records wrote a row last.
func whyCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "why TABLE COLUMN=VALUE ...",
		Short: "Say which records wrote a row of a table last",
		Long: `Says which batch of records wrote a row of a table last: the row of a ledger that was written by the
same transaction. TABLE is written as in SQL, and COLUMN=VALUE once for each column of the row's
primary key. It needs the right to read the table; it changes nothing, and a standby will do.

What a handler wrote behind a savepoint is found where the server keeps the times of commits
(track_commit_timestamp = on).`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("why needs TABLE and COLUMN=VALUE, once for each column of the primary key")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var key []inspect.Column
			for _, text := range args[1:] {
				name, value, found := strings.Cut(text, "=")
				if !found || name == "" {
					return fmt.Errorf("%q is no value of a column: want COLUMN=VALUE", text)
				}
				key = append(key, inspect.Column{Name: name, Value: value})
			}
			return flags.reads(cmd, func(ctx context.Context, db stream.DB) (result, error) {
				w, err := inspect.Why(ctx, db, args[0], key)
				if err != nil {
					return nil, err
				}
				return writer{w}, nil
			})
		},
	}
	flags.define(cmd)
	asJSON(cmd)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// writer is the result of why.
type writer struct{ *inspect.Writer }

func (w writer) member() string { return "writer" }

func (w writer) text() string {
	var b strings.Builder
	who := "nobody known"
	if w.Row != nil {
		who = fmt.Sprintf("%s %s/%d, %s", w.Row.Consumer, w.Row.Topic, w.Row.Partition, w.Row.Span())
	}
	fmt.Fprintf(&b, "%s\n", who)
	wrap(&b, w.Because)
	text := "the row of " + w.Table + " was written by transaction " + w.Transaction
	if w.CommittedAt != nil {
		text += ", which committed at " + w.CommittedAt.UTC().Format(time.RFC3339)
	}
	wrap(&b, text)
	if w.Row != nil && w.Row.Letters > 0 {
		wrap(&b, fmt.Sprintf("%d of its records are dead letters: idemgen dead list --consumer %s --topic %s --state all", w.Row.Letters, w.Row.Consumer, w.Row.Topic))
	}
	return b.String()
}
