package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/operate"
)

// replayCommand asks for dead letters to be applied again.
func replayCommand(flags *streamFlags) *cobra.Command {
	ask := askFlags{verb: "replay"}
	cmd := &cobra.Command{
		Use:   "replay TOPIC {PARTITION:OFFSET... | --class WORD | --event NAME | --error TEXT | --record-key KEY | --all} [--consumer C] [--topic-id ID] --reason TEXT [--result JSON]",
		Short: "Apply dead letters by the code that runs now",
		Long: `Requests that dead letters are applied by the code that runs now. Each takes effect once, with
its key, in a transaction of its own. If a duplicate was applied in the meantime, the letter is
resolved without effect. A letter that is rejected again stays dead, with the new reason;
nothing else changes.

A replay repeats the call of an event's effect if the call failed, or if its outcome is unknown:
first find out from the provider what happened. If the call was done, give its result with
--result, and nothing is called. A recorded result is used unchanged, unless it cannot be read.
For this reason, letters of interrupted calls are left out unless --class interrupted selects
them. A letter named by PARTITION:OFFSET is replayed in any case.

Letters of one record key are replayed in the order of the log, one after the other. A letter
that waits does not delay others. --take-back withdraws a request that has not been carried out
yet.`,
	}
	ask.define(cmd, flags)
	cmd.Flags().Var(notEmpty(&ask.result, "the result of an effect without a result is null"), "result", "result of the effect, which succeeded, as JSON with the names of the spec; null if it has no result")
	cmd.Flags().BoolVar(&ask.takeBack, "take-back", false, "withdraw the pending request, a replay or a discard, of these letters")
	cmd.MarkFlagsMutuallyExclusive("take-back", "result")
	return cmd
}

// discardCommand asks for dead letters to be closed without effect.
func discardCommand(flags *streamFlags) *cobra.Command {
	ask := askFlags{verb: "discard"}
	cmd := &cobra.Command{
		Use:   "discard TOPIC {PARTITION:OFFSET... | --class WORD | --event NAME | --error TEXT | --record-key KEY [--erase] | --all} [--consumer C] [--topic-id ID] --reason TEXT",
		Short: "Close dead letters without effect, or erase their records",
		Long: `Requests that dead letters are closed without effect. Their rows are kept for on_failure.keep,
with the operator and the reason.

--erase erases the data that dead letters of the topic keep of records with one record key:
record, reason, response and result, even of closed letters. Open letters are discarded.`,
	}
	ask.define(cmd, flags)
	cmd.Flags().BoolVar(&ask.erase, "erase", false, "erase the stored records of --record-key")
	return cmd
}

// askFlags are what replay and discard are told.
type askFlags struct {
	verb     string
	letters  operate.Selection
	topic    string          // the id of the topic of places; "" is the present one, or else the last one before it that has the letter
	places   []operate.Place // none: those that letters selects
	all      bool
	by       operate.By
	result   string // "" is none
	takeBack bool
	erase    bool // what is kept of the records of a record key
	wait     time.Duration
}

func (f *askFlags) define(cmd *cobra.Command, flags *streamFlags) {
	set := cmd.Flags()
	consumerFlag(cmd, &f.letters.Consumer)
	topicFlag(cmd, &f.topic)
	selectionFlags(cmd, &f.letters, "")
	set.BoolVar(&f.all, "all", false, "all dead letters of the topic")
	byFlags(cmd, &f.by)
	set.DurationVar(&f.wait, "wait", 0, "wait up to this long for the outcomes, and fail if a letter stays dead")
	command.AsJSON(cmd, "letters")
	cmd.Args = func(_ *cobra.Command, args []string) error { return f.parse(args) }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return flags.run(cmd, onPrimary, "asked", func(ctx context.Context, db operate.DB) (any, error) {
			done := &asked{Dry: f.by.DryRun}
			err := f.ask(ctx, db, done)
			if err != nil && done.Letters == nil {
				return nil, err
			}
			return done, err
		})
	}
}

// asked is what replay and discard print.
type asked struct {
	Letters []operate.Letter `json:"letters"`
	Dry     bool             `json:"-"`
	Left    operate.Left     `json:"left_out"`
	Idle    []operate.Status `json:"-"` // partitions that may have no owner
}

// parse reads the arguments.
func (f *askFlags) parse(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("want TOPIC as in the spec, and which letters to %s", f.verb)
	}
	s := &f.letters
	filtered := f.all || s.Class != "" || s.Event != "" || s.Error != "" || s.Former || s.RecordKey != "" && !f.erase
	s.Topic = args[0]
	for _, arg := range args[1:] {
		p, err := place(arg)
		if err != nil {
			return err
		}
		p.Topic, p.TopicID = s.Topic, f.topic
		f.places = append(f.places, p)
	}
	switch {
	case f.erase && (filtered || len(f.places) > 0):
		return errors.New("--erase applies to a record key: name no letters with it")
	case f.topic != "" && len(f.places) == 0:
		return errors.New("--topic-id names the topic of PARTITION:OFFSET: name a letter, or select those of recreated topics by --former")
	case s.Exact && s.Class == "":
		return errors.New("--exact selects a group: give its --class")
	case f.erase && s.RecordKey == "":
		return errors.New("--erase applies to a record key: give --record-key")
	case f.erase:
	case len(f.places) == 0 && !filtered:
		return fmt.Errorf("say which letters to %s: PARTITION:OFFSET, or --class, --event, --error, --record-key or --all", f.verb)
	case len(f.places) > 0 && filtered:
		return errors.New("either PARTITION:OFFSET, or --class, --event, --error, --record-key or --all")
	case f.result != "" && len(f.places) != 1:
		return errors.New("--result applies to one letter: name it by PARTITION:OFFSET")
	}
	return nil
}

// ask asks about the letters. What is refused for one of those that were named asks about none.
func (f *askFlags) ask(ctx context.Context, db operate.DB, done *asked) (err error) {
	if f.letters.Consumer, err = theConsumer(ctx, db, f.letters.Consumer, f.letters.Topic); err != nil {
		return err
	}
	if f.erase {
		done.Letters, err = operate.Erase(ctx, db, f.letters.Consumer, f.letters.Topic, f.letters.RecordKey, f.by)
		return err
	}
	var meant, now []operate.Letter
	if len(f.places) == 0 {
		verb := f.verb
		if f.takeBack {
			verb = operate.TakeBackVerb
		}
		meant, done.Left, err = operate.Meant(ctx, db, f.letters, verb)
	} else {
		for i := range f.places {
			f.places[i].Consumer = f.letters.Consumer
		}
		meant, err = operate.FindLetters(ctx, db, f.places)
	}
	if err != nil {
		return err
	}
	if f.takeBack {
		now, err = operate.TakeBack(ctx, db, meant, f.by)
	} else {
		now, err = operate.Ask(ctx, db, meant, f.verb, f.json(), f.by)
	}
	if err != nil && len(f.places) > 1 {
		err = fmt.Errorf("%w; nothing was requested", err)
	}
	if err != nil {
		return err
	}
	done.Letters = append([]operate.Letter{}, now...)
	if f.by.DryRun {
		return nil
	}
	if f.wait > 0 {
		done.Letters, err = operate.Await(ctx, db, done.Letters, f.wait)
	}
	idle, errIdle := operate.Idle(ctx, db, done.Letters)
	done.Idle = idle
	return cmp.Or(err, errIdle)
}

// json is the result that was given; nil is none.
func (f *askFlags) json() []byte {
	if f.result == "" {
		return nil
	}
	return []byte(f.result)
}
