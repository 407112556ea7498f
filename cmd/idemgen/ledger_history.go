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

// ledgerHistoryCommand shows who owned a partition.
func ledgerHistoryCommand(flags *streamFlags) *cobra.Command {
	n := 50
	cmd := &cobra.Command{
		Use:   "history CONSUMER TOPIC [PARTITION]",
		Short: "Show who owned a partition, and what people did to it",
		Long: `Shows, for each partition of a topic, who owned it when and how far each came, and what people did
to it; the newest at the end. Rows of owners go with the rows of the ledger around them, what people
did stays for a year.`,
		Args: arguments("CONSUMER", "TOPIC", "[PARTITION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			partition, err := optionalPartition(args)
			if err != nil {
				return err
			}
			return flags.reads(cmd, func(ctx context.Context, db stream.DB) (result, error) {
				found, err := inspect.History(ctx, db, args[0], args[1], partition, n)
				return marks(found), err
			})
		},
	}
	asJSON(cmd, "history")
	cmd.Flags().VarP(positive{&n}, "number", "n", "at most so many of each partition, the newest ones")
	return cmd
}

// marks is the result of ledger history.
type marks []inspect.Mark

func (h marks) member() string { return "history" }

// MarshalJSON writes an array also of no marks.
func (h marks) MarshalJSON() ([]byte, error) { return plainJSON(append([]inspect.Mark{}, h...)) }

func (h marks) text() string {
	var b strings.Builder
	for i := range h {
		m := &h[i]
		if i == 0 || m.Partition != h[i-1].Partition {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s/%d of %s\n", m.Topic, m.Partition, m.Consumer)
		}
		until := "now"
		if m.Until != nil {
			until = m.Until.Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "%s to %s\n", m.WrittenAt.Format(time.RFC3339), until)
		wrap(&b, meaning(m))
	}
	return b.String()
}

// meaning says what a row of the ledger that is no batch began.
func meaning(m *inspect.Mark) string {
	text := fmt.Sprintf("row %d, %s", m.Seq, m.Kind)
	switch {
	case m.Owner != "":
		text = fmt.Sprintf("row %d: owned by %s", m.Seq, m.Owner)
	case m.From != m.To:
		text += fmt.Sprintf(", %d -> %d: %s", m.From, m.To, m.Info)
	default:
		text += ": " + m.Info
	}
	if m.Reached == m.To {
		return text + fmt.Sprintf("; at offset %d", m.To)
	}
	return text + "; applied " + offsets(m.To, m.Reached)
}
