package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// replayCommand asks for dead letters to be applied again.
func replayCommand(flags *streamFlags) *cobra.Command {
	ask := askFlags{verb: "replay"}
	cmd := &cobra.Command{
		Use:   "replay TOPIC {PARTITION:OFFSET... | --class WORD | --event NAME | --all} [--consumer C] --reason TEXT [--result JSON]",
		Short: "Apply dead letters again, by the code that runs now",
		Long: `Has dead letters applied again, by the code that runs now: each takes effect once, with its key,
in a transaction of its own. One whose key was applied since by a copy is resolved without effect.
One that is refused again stays dead, with the new reason; nothing else moves.

The effect of an event is called again for it, if the call failed, or if nobody knows what it did:
find that out on the other side first. If it was done, --result says what it returned, and nothing
is called. A result that was recorded is taken as it is, unless it cannot be read. So --all and
--event leave out letters of interrupted calls, which --class interrupted means.

Letters of one record key are replayed in the order of the log, one after the other; one that waits
holds up no others. --take-back takes back what was asked and is not done yet.`,
	}
	ask.define(cmd, flags)
	cmd.Flags().Var(notEmpty{&ask.result, "null is what an effect returns that returns nothing"}, "result", "the effect of this one letter was done: what it returned, as JSON in the spec's names; null if it returns nothing")
	cmd.Flags().BoolVar(&ask.takeBack, "take-back", false, "take back what was asked about these letters, a replay or a discard, and is not done yet")
	cmd.MarkFlagsMutuallyExclusive("take-back", "result")
	return cmd
}

// discardCommand asks for dead letters to be closed without effect.
func discardCommand(flags *streamFlags) *cobra.Command {
	ask := askFlags{verb: "discard"}
	cmd := &cobra.Command{
		Use:   "discard TOPIC {PARTITION:OFFSET... | --class WORD | --event NAME | --all | --record-key KEY --erase} [--consumer C] --reason TEXT",
		Short: "Close dead letters without effect, or erase what they keep",
		Long: `Has dead letters closed without effect. Their rows stay for as long as on_failure.keep says, with
who and why.

--erase erases what dead letters of the topic keep of the records of a record key: record, reason
and result, of closed letters too. Those that are open are discarded.`,
	}
	ask.define(cmd, flags)
	cmd.Flags().Var(notEmpty{&ask.recordKey, "want the record key as Kafka has it, as text"}, "record-key", "with --erase: the record key, as Kafka has it, as text")
	cmd.Flags().BoolVar(&ask.erase, "erase", false, "erase what is kept of the records of --record-key")
	cmd.MarkFlagsRequiredTogether("record-key", "erase")
	return cmd
}

// askFlags are what replay and discard are told.
type askFlags struct {
	verb            string
	consumer, topic string
	places          []operate.Place // none: those that filter means
	filter          operate.Filter
	class           oneOf
	all             bool
	by              operate.By
	result          string // "" is none
	takeBack        bool
	recordKey       string // whose records are erased; "" is none
	erase           bool
	wait            time.Duration
}

func (f *askFlags) define(cmd *cobra.Command, flags *streamFlags) {
	set := cmd.Flags()
	consumerFlag(cmd, &f.consumer)
	f.class = oneOf{words: operate.Classes}
	set.Var(&f.class, "class", "those whose reason begins with this word: "+strings.Join(operate.Classes, ", "))
	set.Var(notEmpty{&f.filter.Event, "want the name of an event"}, "event", "those of an event, by its name in Go")
	set.BoolVar(&f.all, "all", false, "all dead letters of the topic")
	set.StringVar(&f.by.Reason, "reason", "", "why, as a text that is kept with the letter and in the ledger")
	set.StringVar(&f.by.Operator, "operator", "", "name of who acts (default $USER, else the database role)")
	set.BoolVar(&f.by.DryRun, "dry-run", false, "print which letters are meant, and ask nothing")
	set.DurationVar(&f.wait, "wait", 0, "wait so long for the answers, and fail if a letter stays dead")
	require(cmd, "reason")
	asJSON(cmd, "letters")
	cmd.Args = func(cmd *cobra.Command, args []string) error { return f.parse(args) }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("operator") {
			f.by.Operator = os.Getenv("USER")
		} else if strings.TrimSpace(f.by.Operator) == "" {
			return errors.New("--operator is empty: the ledger keeps who acted")
		}
		return flags.with(cmd, f.ask)
	}
}

// parse reads the arguments.
func (f *askFlags) parse(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("want TOPIC, as the spec has it, and which letters to %s", f.verb)
	}
	f.topic, f.filter.Class = args[0], f.class.value
	for _, arg := range args[1:] {
		number, offset, found := strings.Cut(arg, ":")
		p, err := strconv.ParseUint(number, 10, 31)
		o, errOffset := strconv.ParseUint(offset, 10, 63)
		if !found || err != nil || errOffset != nil {
			return fmt.Errorf("%q is no PARTITION:OFFSET, such as 0:1742; a consumer is named by --consumer", arg)
		}
		f.places = append(f.places, operate.Place{Topic: f.topic, Partition: int32(p), Offset: int64(o)})
	}
	filtered := f.all || f.filter != operate.Filter{}
	switch {
	case f.erase && (filtered || len(f.places) > 0):
		return errors.New("--erase is of a record key: say no letters beside it")
	case f.erase:
	case len(f.places) == 0 && !filtered:
		return fmt.Errorf("say which letters to %s: PARTITION:OFFSET, or --class, --event or --all", f.verb)
	case len(f.places) > 0 && filtered:
		return errors.New("either PARTITION:OFFSET, or --class, --event or --all")
	case f.result != "" && len(f.places) != 1:
		return errors.New("--result is of one letter: say PARTITION:OFFSET of that one")
	}
	return nil
}

// ask asks about the letters. What is refused for one of those that were named asks about none.
func (f *askFlags) ask(ctx context.Context, db operate.DB) (result, error) {
	r := &asked{letters: []operate.Letter{}, dry: f.by.DryRun}
	consumer, err := theConsumer(ctx, db, f.consumer, f.topic)
	if err != nil {
		return nil, err
	}
	f.consumer = consumer
	for i := range f.places {
		f.places[i].Consumer = consumer
	}
	if f.erase {
		erased, err := operate.Erase(ctx, db, f.consumer, f.topic, f.recordKey, f.by)
		r.letters = append(r.letters, erased...)
		return r, err
	}
	letters, err := f.find(ctx, db)
	if err != nil {
		return nil, err
	}
	var meant []operate.Letter
	for _, l := range letters {
		switch {
		case len(f.places) == 0 && (l.Asked() != "") != f.takeBack:
			// somebody asked before; or there is nothing to take back
		case f.leavesOut(&l):
			r.leftOut++
		default:
			meant = append(meant, l)
		}
	}
	now, err := f.about(ctx, db, meant)
	if err != nil && len(f.places) > 1 {
		err = fmt.Errorf("%w; nothing was asked", err)
	}
	if err != nil {
		return nil, err
	}
	r.letters = append(r.letters, now...)
	if f.by.DryRun {
		return r, nil
	}
	if f.wait > 0 {
		return r.await(ctx, db, f.wait)
	}
	return r, r.silent(ctx, db)
}

// leavesOut reports whether a letter is not meant because nobody said what becomes of its call: a
// replay calls again.
func (f *askFlags) leavesOut(l *operate.Letter) bool {
	cut := l.Class == "interrupted" && !l.Called || strings.HasPrefix(l.Answer(), "interrupted:")
	return f.verb == "replay" && !f.takeBack && len(f.places) == 0 && f.filter.Class != "interrupted" && cut
}

// about asks about letters.
func (f *askFlags) about(ctx context.Context, db operate.DB, letters []operate.Letter) ([]operate.Letter, error) {
	if f.takeBack {
		return operate.TakeBack(ctx, db, letters, f.by)
	}
	if f.result != "" {
		l, err := operate.AskWithResult(ctx, db, letters[0], []byte(f.result), f.by)
		return []operate.Letter{l}, err
	}
	return operate.AskAll(ctx, db, letters, f.verb, f.by)
}

func (f *askFlags) find(ctx context.Context, db operate.DB) ([]operate.Letter, error) {
	if len(f.places) > 0 {
		return operate.FindLetters(ctx, db, f.places)
	}
	filter := f.filter
	filter.Consumer, filter.Topic = f.consumer, f.topic
	found, err := operate.DeadLetters(ctx, db, filter)
	if err != nil || len(found) > 0 || filter.Event == "" {
		return found, err
	}
	filter.Class, filter.All, filter.Limit = "", true, 1
	if ever, _, err := operate.Letters(ctx, db, filter); err != nil || len(ever) > 0 {
		return nil, err
	}
	return nil, fmt.Errorf("%s never had a dead letter of event %s: idemgen dead list shows the events by name", f.topic, filter.Event)
}
