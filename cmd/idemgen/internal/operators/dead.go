package operators

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/view"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/idem"
)

// deadCommand holds the commands that show dead letters, and decide about them.
func deadCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "Show dead letters, replay or discard them",
		Long: `A dead letter is a record that could not be applied, stored with the reason. list lists dead
letters, and show shows one with its payload and the possible next steps. Both only read, and a
standby is enough.

replay and discard send a request to the owner of the letter's partition. The owner carries it
out between two batches, within about 5 seconds, and writes the answer beside the letter. If no
service runs, the next owner of the partition carries it out.`,
	}
	flags.define(cmd)
	command.AsJSON(cmd)
	cmd.AddCommand(deadListCommand(&flags), deadShowCommand(&flags), replayCommand(&flags), discardCommand(&flags))
	noCompletions(cmd)
	return cmd
}

// arguments says how many arguments a command takes, by their names.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, name := range names {
			if i >= len(args) {
				return fmt.Errorf("%s needs %s", cmd.Name(), strings.Join(names[i:], " "))
			}
			if args[i] == "" {
				return fmt.Errorf("%s is empty", name)
			}
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s takes %s only, and %q is one more; a consumer is named by --consumer", cmd.Name(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}

// classes are the first words of reasons, in help.
var classes = strings.Join(operate.Classes, ", ")

// deadListCommand shows which dead letters there are.
func deadListCommand(flags *streamFlags) *cobra.Command {
	var s operate.Selection
	limit, state := 50, "open"
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List dead letters",
		Long: `Lists dead letters, and the records that are parked behind them: first the number of letters by
class, then the newest letters. In JSON, the member more says whether --limit left letters out.`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.Exact && s.Class == "" {
				return errors.New("--exact selects a group: give its --class")
			}
			s.Closed = state == "all"
			return flags.run(cmd, anywhere, "dead letters", func(ctx context.Context, db operate.DB) (any, error) {
				list, err := operate.Letters(ctx, db, s, limit)
				if err != nil {
					return nil, err
				}
				if !command.AnswerOf(cmd).Wanted {
					slices.SortStableFunc(list.Letters, func(a, b operate.Letter) int {
						return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Topic, b.Topic))
					})
				}
				return struct {
					operate.LetterList
					All bool `json:"-"`
				}{list, s.Closed}, nil
			})
		},
	}
	command.AsJSON(cmd, "by_class", "dead_letters")
	cmd.Flags().StringVar(&s.Consumer, "consumer", "", "name of the consumer in the spec (default all)")
	cmd.Flags().StringVar(&s.Topic, "topic", "", "name of the topic (default all)")
	cmd.Flags().Var(oneOf(&state, "open", "all"), "state", "open, or all, including replayed and discarded letters (default open)")
	selectionFlags(cmd, &s, "; default all")
	cmd.Flags().Var(number(&limit, 1, 100_000), "limit", "maximum number of letters, newest first (default 50)")
	return cmd
}

// selectionFlags adds the flags that select letters, beside those of consumer and topic.
func selectionFlags(cmd *cobra.Command, s *operate.Selection, all string) {
	set := cmd.Flags()
	set.Var(oneOf(&s.Class, operate.Classes...), "class", "letters whose reason begins with this word: "+classes+all)
	set.Var(notEmpty(&s.Event, "want the name of an event"), "event", "letters of an event, by its name in Go"+all)
	set.Var(notEmpty(&s.Error, "want a text"), "error", "letters whose reason contains this text; # stands for any text"+all)
	set.Var(notEmpty(&s.RecordKey, "want the text of the record key, or hex: and its bytes"), "record-key",
		"letters with this Kafka record key: its text or, also if that begins with hex:, hex: and its bytes as show prints them"+all)
	set.BoolVar(&s.Former, "former", false, "letters of recreated topics, which can only be discarded")
	set.BoolVar(&s.Exact, "exact", false, "match exactly one group of the console, by --class, --event and --error; if a flag is left out, the group must have no such value")
}

// deadShowCommand shows all of one dead letter.
func deadShowCommand(flags *streamFlags) *cobra.Command {
	var raw, consumer, spec, topic string
	cmd := &cobra.Command{
		Use:   "show TOPIC PARTITION:OFFSET [--consumer C] [--topic-id ID]",
		Short: "Show a dead letter with its record and the possible next steps",
		Long: `Shows a dead letter: the reason, its record with headers, key and payload, and the possible next
steps. The payload is printed unchanged, including personal data. An encoded payload is printed
as JSON if the spec is here, or named by --spec.`,
		Args: arguments("TOPIC", "PARTITION:OFFSET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := place(args[1])
			if err != nil {
				return err
			}
			if raw != "" && command.AnswerOf(cmd).Wanted {
				return errors.New("--raw writes the payload as it is: leave out --json")
			}
			return flags.run(cmd, anywhere, "dead letter", func(ctx context.Context, db operate.DB) (any, error) {
				consumer, err := theConsumer(ctx, db, consumer, args[0])
				if err != nil {
					return nil, err
				}
				o, err := operate.Open(ctx, db, operate.Name{Consumer: consumer, Topic: args[0], TopicID: topic, Partition: at.Partition}, at.Offset)
				switch {
				case err != nil:
					return nil, err
				case raw != "":
					return nil, writePayload(cmd, o, raw)
				}
				decoded, err := decode(spec, cmd.Flags().Changed("spec"), o)
				return struct {
					*operate.Opened `json:"dead_letter"`
					Decoded         string `json:"-"`
				}{o, decoded}, err
			})
		},
	}
	command.AsJSON(cmd)
	consumerFlag(cmd, &consumer)
	topicFlag(cmd, &topic)
	cmd.Flags().StringVar(&spec, "spec", generator.SpecFile, "spec that defines the encoding of payloads")
	cmd.Flags().StringVar(&raw, "raw", "", "write the payload's bytes to this file, which must not exist; - is stdout")
	return cmd
}

// topicFlag adds the flag that names a topic that was recreated.
func topicFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "topic-id", "", "UUID of a topic that was recreated (default the present topic, or else the last one that has the letter)")
}

// decode returns the payload of a letter as JSON, if the spec of its consumer says that it is
// encoded in another way; "" otherwise. The spec may be missing, unless it was named.
func decode(path string, named bool, o *operate.Opened) (string, error) {
	if o.Record == nil || o.Record.Value == nil {
		return "", nil
	}
	specs, err := command.FindSpecs([]string{path})
	if err == nil && len(specs) != 1 {
		err = fmt.Errorf("--spec %s names %d specs: name the one of the service", path, len(specs))
	}
	var spec *view.Spec
	if err == nil {
		spec, err = view.Read(command.SpecFolder(specs[0].Path))
	}
	if err != nil {
		if named {
			return "", err
		}
		return "", nil
	}
	if spec.Consumer() != o.Consumer {
		return "", nil
	}
	var headers []idem.Header
	for _, h := range o.Record.Headers {
		if h.Value != nil {
			headers = append(headers, idem.Header{Name: h.Name, Value: h.Value.Raw()})
		}
	}
	object, packed, err := spec.Open(o.Topic, headers, o.Record.Value.Raw())
	switch {
	case !packed:
		return "", nil
	case err != nil:
		return "it cannot be decoded: " + err.Error(), nil
	}
	var out bytes.Buffer
	if json.Indent(&out, object, "", "  ") != nil {
		return string(object), nil
	}
	return out.String(), nil
}

// writePayload writes the payload as it is, to stdout or to a new file that only the user can
// read.
func writePayload(cmd *cobra.Command, o *operate.Opened, to string) error {
	name := o.CommandName()
	switch {
	case o.ErasedBy != "":
		return fmt.Errorf("%s: its record was erased by %s", name, o.ErasedBy)
	case o.Record == nil:
		return fmt.Errorf("%s: its record is not kept", name)
	case o.Record.Value == nil:
		return fmt.Errorf("%s: its record is a tombstone, without a payload", name)
	}
	raw, out := o.Record.Value.Raw(), cmd.OutOrStdout()
	if to == "-" {
		_, err := command.Raw(out).Write(raw)
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Close()); err == nil {
		_, err = fmt.Fprintf(out, "%s: %d bytes\n", to, len(raw))
	}
	return err
}
