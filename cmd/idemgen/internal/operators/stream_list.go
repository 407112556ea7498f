package operators

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/operate"
)

// listCommand shows every partition: its ledger, its owner and its state.
func listCommand(flags *streamFlags) *cobra.Command {
	var consumer string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show problems, and every partition: ledger, owner and state",
		Long: `Shows the problems of the services in the database, the worst first, with the cause and what to
do. Then it shows each partition: its ledger with the position and the last row, the last action
of an operator, its owner, and its state. The state is what the process reported within the last
seconds. It is "not known" if no process reports the partition, or if the process has stopped
reporting without having ended. KIND is "none" if the partition has no ledger, and "gone" if the
rows of its ledger were deleted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, onPrimary, "streams", func(ctx context.Context, db operate.DB) (any, error) {
				s, err := operate.StateOf(ctx, db, consumer)
				if err == nil {
					err = s.Err()
				}
				if err == nil && consumer != "" && len(s.Streams) == 0 {
					_, err = operate.List(ctx, db, consumer) // names those that there are
				}
				if err != nil {
					return nil, err
				}
				return streams{s.Problems, s.Streams}, nil
			})
		},
	}
	command.AsJSON(cmd, "streams", "problems")
	cmd.Flags().StringVar(&consumer, "consumer", "", "name of the consumer in the spec (default all)")
	return cmd
}

// streams are what list shows.
type streams struct {
	Problems []operate.Problem `json:"problems"`
	Streams  []operate.Status  `json:"streams"`
}

// topic is the part of a list that has the partitions of one topic.
type topic struct {
	Head    string
	Streams []operate.Status
}

// Topics returns the list by topics, in its order, but with former topics behind present ones.
func (s streams) Topics() (all []topic) {
	sorted := slices.Clone(s.Streams)
	slices.SortStableFunc(sorted, func(a, b operate.Status) int {
		head := func(s operate.Status) string {
			return fmt.Sprintf("%s\n%s\n%t%s", s.Consumer, s.Topic, s.Former, s.TopicID)
		}
		return cmp.Compare(head(a), head(b))
	})
	for _, s := range sorted {
		head := fmt.Sprintf("%s of %s\ntopic id %s", s.Topic, s.Consumer, cmp.Or(s.TopicID, "not known: without a ledger"))
		if s.Former {
			head += " (former)"
		}
		if n := len(all); n == 0 || all[n-1].Head != head {
			all = append(all, topic{Head: head})
		}
		last := &all[len(all)-1]
		last.Streams = append(last.Streams, s)
	}
	return all
}

// Owners returns a line for each process, with its partitions.
func (t topic) Owners() (lines []string) {
	var heads []string
	numbers := map[string][]int32{}
	for _, s := range t.Streams {
		if s.Former || s.Reported.Unknown() != "" {
			continue
		}
		head := "at " + s.Reported.Process
		if numbers[head] == nil {
			heads = append(heads, head)
		}
		numbers[head] = append(numbers[head], s.Partition)
	}
	for _, head := range heads {
		lines = append(lines, head+": "+operate.Ranges(numbers[head]))
	}
	return lines
}

// stateOf is the state of a partition as the list shows it.
func stateOf(s operate.Status) string {
	if s.Former {
		return "-"
	}
	severity, state, _ := s.Now()
	if severity == operate.NotKnown {
		return "not known"
	}
	return state
}

// missing says in place of the kind of the last row why there is none.
func missing(s operate.Status) string {
	if s.NoLedger() {
		return "none"
	}
	return "gone"
}

// lagOf is the lag of a partition, in offsets, as the list shows it.
func lagOf(s operate.Status) string {
	if s.Former || s.Reported.Unknown() != "" || s.Reported.Lag < 0 {
		return "-"
	}
	return fmt.Sprint(s.Reported.Lag)
}

// advice puts what to do behind blanks. A command, or a statement with a comment, stays on one
// line, so that it can be copied.
func advice(do string) string {
	if strings.HasPrefix(do, "idemgen ") || strings.Contains(do, "; -- ") {
		return "          " + do
	}
	return command.Wrap(do)
}
