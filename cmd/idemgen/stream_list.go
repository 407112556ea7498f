package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// listCommand shows the ledger of every partition.
func listCommand(flags *streamFlags) *cobra.Command {
	var consumer string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the ledger of every partition",
		Long:  "Shows the ledger of every partition: its position, its last row, and what an operator did last.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.with(cmd, func(ctx context.Context, db operate.DB) (result, error) {
				all, err := operate.List(ctx, db, consumer)
				if err != nil {
					return nil, err
				}
				return append(listed{}, all...), nil // an empty list in JSON, where there is none
			})
		},
	}
	asJSON(cmd, "streams")
	cmd.Flags().StringVar(&consumer, "consumer", "", "name of the consumer, as the spec has it (default all)")
	return cmd
}

// listed is the result of list.
type listed []operate.Status

func (l listed) member() string { return "streams" }

// text is a table per topic, for terminals of 100 columns; --json has more. In each, the
// streams of one topic id stand together, former ones last.
func (l listed) text() string {
	l = slices.Clone(l)
	slices.SortStableFunc(l, func(a, b operate.Status) int {
		return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Topic, b.Topic), ordinal(a.Former)-ordinal(b.Former),
			cmp.Compare(a.TopicID, b.TopicID), cmp.Compare(a.Partition, b.Partition))
	})
	var b strings.Builder
	for i := 0; i < len(l); {
		n := i + 1
		for n < len(l) && l[n].Consumer == l[i].Consumer && l[n].Topic == l[i].Topic {
			n++
		}
		if i > 0 {
			b.WriteString("\n")
		}
		l[i:n].table(&b)
		i = n
	}
	return b.String()
}

// ordinal orders false before true.
func ordinal(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	columns = 100
	row     = "%9s %4s %13s %10s  %-8s %9s  %-8s %11s %12s\n" // of a table
)

// table writes the streams of one topic, with a head for each topic id.
func (l listed) table(b *strings.Builder) {
	fmt.Fprintf(b, "%s of %s\n", l[0].Topic, l[0].Consumer)
	for i := range l {
		s := &l[i]
		if i == 0 || s.TopicID != l[i-1].TopicID || s.Former != l[i-1].Former {
			former := ""
			if s.Former {
				former = " (former)"
			}
			fmt.Fprintf(b, "topic id %s%s\n", s.TopicID, former)
			fmt.Fprintf(b, row, "PARTITION", "OF", "POSITION", "ROW", "KIND", "AGE", "IDENTITY", "WINDOW ROWS", "DEAD LETTERS")
		}
		line(b, s)
	}
}

// line writes one stream, and what an operator did to it last below it.
func line(b *strings.Builder, s *operate.Status) {
	of, position, seq, kind, old, identity, window := "-", "-", "-", "gone", "-", "-", "-"
	if t := s.Tail; t != nil {
		of, position, seq, kind = fmt.Sprint(t.Partitions), fmt.Sprint(t.Position), fmt.Sprint(t.Seq), t.Kind
		old, identity, window = age(t.AgeSeconds), cmp.Or(t.Identity, "-"), fmt.Sprint(t.WindowRows)
	}
	fmt.Fprintf(b, row, fmt.Sprint(s.Partition), of, position, seq, kind, old, identity, window, fmt.Sprint(s.OpenDeadLetters))
	if o := s.LastOperatorRow; o != nil {
		wrap(b, fmt.Sprintf("last operator: %s row %d %s, %d -> %d: %s", o.WrittenAt.Format(time.RFC3339), o.Seq, o.Kind, o.From, o.To, o.Info))
	}
}

// wrap writes a text behind blanks, in lines that end before the last column.
func wrap(b *strings.Builder, text string) {
	const indent = "          "
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch n := utf8.RuneCountInString(word); {
		case used == 0:
			b.WriteString(indent)
			used = len(indent) + n
		case used+1+n > columns:
			b.WriteString("\n" + indent + "  ")
			used = len(indent) + 2 + n
		default:
			b.WriteString(" ")
			used += 1 + n
		}
		b.WriteString(word)
	}
	b.WriteString("\n")
}

// age is a duration as people say it.
func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 48*time.Hour {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return d.Round(time.Second).String()
}
