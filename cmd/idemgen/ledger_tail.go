package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/runtime/inspect"
	"github.com/idemgen/idemgen/runtime/stream"
)

// followPause is how often a ledger that is followed is read.
const followPause = time.Second

// ledgerTailCommand shows the last rows of a ledger.
func ledgerTailCommand(flags *streamFlags) *cobra.Command {
	n, follow := 20, false
	cmd := &cobra.Command{
		Use:   "tail CONSUMER TOPIC [PARTITION]",
		Short: "Show the last rows of a ledger",
		Long: `Shows the last rows of the ledgers of a topic, or of one partition, the newest at the end. With
--follow it goes on with what is appended, until it is interrupted.`,
		Args: arguments("CONSUMER", "TOPIC", "[PARTITION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			partition, err := optionalPartition(args)
			if err != nil {
				return err
			}
			if follow && answerOf(cmd).wanted {
				return errors.New("--follow never ends, and --json prints one object at the end: give one of them")
			}
			return flags.reads(cmd, func(ctx context.Context, db stream.DB) (result, error) {
				tail, err := inspect.NewTail(ctx, db, args[0], args[1], partition)
				if err != nil {
					return nil, err
				}
				rows, err := tail.Last(ctx, n)
				if err != nil || !follow {
					return ledgerRows(rows), err
				}
				fmt.Fprint(cmd.OutOrStdout(), visible(ledgerRows(rows).text()))
				return nil, followTail(ctx, cmd, tail)
			})
		},
	}
	asJSON(cmd, "rows")
	cmd.Flags().VarP(positive{&n}, "number", "n", "at most so many, the newest ones")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what is appended")
	return cmd
}

// followTail prints rows as they are appended, until the command is interrupted.
func followTail(ctx context.Context, cmd *cobra.Command, tail *inspect.Tail) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPause):
		}
		rows, err := tail.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprint(cmd.OutOrStdout(), visible(ledgerRows(rows).lines()))
	}
}

// ledgerRows is the result of ledger tail.
type ledgerRows []inspect.Row

func (l ledgerRows) member() string { return "rows" }

// MarshalJSON writes an array also of no rows.
func (l ledgerRows) MarshalJSON() ([]byte, error) {
	return plainJSON(append([]inspect.Row{}, l...))
}

const ledgerLine = "%9s %9s  %-8s  %24s %5s %5s  %s\n" // of a table

func (l ledgerRows) text() string {
	return fmt.Sprintf(ledgerLine, "PARTITION", "ROW", "KIND", "OFFSETS", "KEYS", "DEAD", "WHEN") + l.lines()
}

// lines are the rows without a head.
func (l ledgerRows) lines() string {
	var b strings.Builder
	for i := range l {
		r := &l[i]
		fmt.Fprintf(&b, ledgerLine, fmt.Sprint(r.Partition), fmt.Sprint(r.Seq), r.Kind, offsets(r.From, r.To), fmt.Sprint(r.Keys), fmt.Sprint(r.Letters), r.WrittenAt.Format(time.RFC3339))
		if r.Info != "" {
			wrap(&b, r.Info)
		}
	}
	return b.String()
}

// offsets are those between two positions, in short.
func offsets(from, to int64) string {
	switch {
	case to == from:
		return fmt.Sprintf("at %d", from)
	case to == from+1:
		return fmt.Sprint(from)
	case to < from:
		return fmt.Sprintf("%d -> %d", from, to)
	}
	return fmt.Sprintf("%d to %d", from, to-1)
}
