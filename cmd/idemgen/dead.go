package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// deadCommand holds the commands that show dead letters, and decide about them.
func deadCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "Show dead letters, replay or discard them",
		Long: `A record that cannot be applied is kept with the reason: a dead letter. list shows which there
are, show all of one, with its payload and what can be done next; both read only, and a standby
will do.

replay and discard ask the owner of the letter's partition, which does it between two batches,
within about 5 seconds, and writes the answer beside the letter. If no service runs, the next one
that takes the partition over does it.`,
	}
	flags.define(cmd)
	asJSON(cmd)
	cmd.AddCommand(deadListCommand(&flags), deadShowCommand(&flags), replayCommand(&flags), discardCommand(&flags))
	noCompletions(cmd)
	return cmd
}

// letterName is what commands call a letter.
func letterName(consumer, topic string, partition int32, offset int64) string {
	return fmt.Sprintf("%s %d:%d --consumer %s", topic, partition, offset, consumer)
}

// place reads a partition and an offset.
func place(text string) (partition int32, offset int64, err error) {
	number, rest, found := strings.Cut(text, ":")
	p, errPartition := strconv.ParseUint(number, 10, 31)
	o, errOffset := strconv.ParseUint(rest, 10, 63)
	if !found || errPartition != nil || errOffset != nil {
		return 0, 0, fmt.Errorf("%q is no place of a record: want PARTITION:OFFSET, such as 0:4711", text)
	}
	return int32(p), int64(o), nil
}

// arguments says how many arguments a command takes, by their names: those in brackets may be
// left out.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, name := range names {
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return fmt.Errorf("%s needs %s", cmd.Name(), strings.Join(names[i:], " "))
			}
			if i < len(args) && args[i] == "" {
				return fmt.Errorf("%s is empty", strings.Trim(name, "[]"))
			}
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s takes %s only, and %q is one more; a consumer is named by --consumer", cmd.Name(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}
