package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// deadListCommand shows which dead letters there are.
func deadListCommand(flags *streamFlags) *cobra.Command {
	var filter operate.Filter
	state := oneOf{value: "open", words: []string{"open", "all"}}
	class := oneOf{words: operate.Classes}
	limit := 50
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which dead letters there are",
		Long:  "Shows which dead letters there are, and what waits behind them: how many of each class, then the newest. In JSON the member more says whether there are others that --limit left out.",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter.All, filter.Class, filter.Limit = state.value == "all", class.value, limit
			return flags.reads(cmd, func(ctx context.Context, db operate.DB) (result, error) {
				found, more, err := operate.Letters(ctx, db, filter)
				if err != nil {
					return nil, err
				}
				sums, err := operate.Sums(ctx, db, filter)
				if err != nil {
					return nil, err
				}
				answerOf(cmd).members["more"], answerOf(cmd).members["by_class"] = more, sums
				return letters{found, sums, more, filter.All}, nil
			})
		},
	}
	asJSON(cmd, "by_class", "dead_letters")
	cmd.Flags().StringVar(&filter.Consumer, "consumer", "", "name of the consumer, as the spec has it (default all)")
	cmd.Flags().StringVar(&filter.Topic, "topic", "", "name of the topic (default all)")
	cmd.Flags().Var(&state, "state", "open, or all: also those that were replayed or discarded")
	cmd.Flags().StringVar(&filter.Event, "event", "", "name of the event (default all)")
	cmd.Flags().Var(&class, "class", "the first word of the reason: "+strings.Join(operate.Classes, ", ")+" (default all)")
	cmd.Flags().Var(positive{&limit}, "limit", "at most so many, the newest ones")
	return cmd
}

// letters is the result of dead list.
type letters struct {
	found []operate.Letter
	sums  []operate.Sum
	more  bool
	all   bool // closed ones were asked for, too
}

func (l letters) member() string { return "dead_letters" }

// MarshalJSON writes the letters only.
func (l letters) MarshalJSON() ([]byte, error) {
	return plainJSON(append([]operate.Letter{}, l.found...))
}

const letterLine = "%16s  %-20s  %-9s  %-12s  %s\n" // of a table

// text is a table per topic.
func (l letters) text() string {
	var b strings.Builder
	found := slices.Clone(l.found)
	slices.SortStableFunc(found, func(a, b operate.Letter) int {
		return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Topic, b.Topic))
	})
	var sums []string
	for _, sum := range l.sums {
		sums = append(sums, fmt.Sprintf("%d %s", sum.Count, sum.Class))
	}
	if len(sums) > 0 {
		fmt.Fprintf(&b, "%s\n\n", strings.Join(sums, ", "))
	}
	for i := range found {
		d := &found[i]
		if i == 0 || d.Consumer != found[i-1].Consumer || d.Topic != found[i-1].Topic {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s of %s\n", d.Topic, d.Consumer)
			fmt.Fprintf(&b, letterLine, "PARTITION:OFFSET", "WHEN", "STATE", "REASON", "EVENT")
		}
		fmt.Fprintf(&b, letterLine, fmt.Sprintf("%d:%d", d.Partition, d.Offset), d.CreatedAt.Format(time.RFC3339), d.State, d.Class, cmp.Or(d.Event, "-"))
		wrap(&b, short(d.Reason))
		if d.Behind != nil {
			wrap(&b, fmt.Sprintf("waits behind %d:%d", d.Partition, *d.Behind))
		}
		if r := d.Request; r != nil {
			wrap(&b, "request "+requested(r))
		}
		if e := d.End; e != nil && e.By != "" {
			wrap(&b, d.State+" by "+e.By)
		}
	}
	switch {
	case len(found) == 0 && l.all:
		b.WriteString("no dead letters\n")
	case len(found) == 0:
		b.WriteString("no open dead letters; --state all shows closed ones\n")
	case l.more:
		fmt.Fprintf(&b, "\nonly the newest %d; --limit shows more\n", len(found))
	}
	return b.String()
}

// mostOfReason is how much of a reason a list shows, in characters; show has all of it.
const mostOfReason = 240

func short(text string) string {
	if utf8.RuneCountInString(text) <= mostOfReason {
		return text
	}
	return string([]rune(text)[:mostOfReason]) + " ..."
}

// requested says what an operator asked for, and what came of it.
func requested(r *operate.Request) string {
	text := fmt.Sprintf("of %s by %s", r.At.Format(time.RFC3339), r.By)
	switch {
	case r.Result: // of a replay only, which the answer says no more
		text = "to replay it with a result that was given, " + text
	case r.For != "":
		text = "to " + r.For + " it, " + text
	}
	switch {
	case r.For != "":
		text += "; no answer yet"
	case r.Answer != "":
		text += "; the answer: " + r.Answer
	}
	return text
}
