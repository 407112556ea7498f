package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// streamCommand holds the commands that show and change the ledgers in a database.
func streamCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Show, pause and repair the ledgers in a database",
		Long: `list shows every partition: its ledger, its owner, and whether it makes progress. The other
commands append a row to a ledger: pause stops a partition, and resume ends the pause; after a
row of release or set, a halted partition continues. The service needs no restart: it sees the
row with its next batch or, if it is halted or has no records, within about 5 seconds. The error
of a halted partition prints the whole command. docs/operations.md describes what to check first,
and how the command affects the guarantee. Nothing else in the database changes.`,
	}
	flags.define(cmd)
	command.AsJSON(cmd)
	cmd.AddCommand(listCommand(&flags), releaseCommand(&flags), setCommand(&flags),
		pauseCommand(&flags, "pause", "Stop the consumption of a topic for a while", `Stops the consumption of a topic, or of one partition, until idemgen stream resume, such as while a
table is repaired. Processes keep running; other topics continue. Batches that have committed stay,
later ones wait. The pause survives restarts and rebalances. A partition without a ledger is reported,
but not paused.`, operate.Pause, operate.Unpaused),
		pauseCommand(&flags, "resume", "End a pause", `Ends the pause of a topic, or of one partition, which continues where it was. Partitions that are not
paused are left alone.`, operate.Resume, nil))
	for _, verb := range cmd.Commands() {
		verb.Args = command.NoArguments
	}
	noCompletions(cmd)
	return cmd
}

// streamFlags are the flags of all commands that work on the runtime's tables.
type streamFlags struct {
	database string
}

// define adds the flags to a command and those below it.
func (f *streamFlags) define(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.database, "database", "", "URL of the service's database (default $DATABASE_URL)")
}

// noCompletions says of each command below one that files complete neither its arguments nor its
// flags.
func noCompletions(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		withoutCompletions(verb)
	}
}

// withoutCompletions says that files complete neither a command's arguments nor its flags.
func withoutCompletions(cmd *cobra.Command) {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // the flag exists, and has no other
	})
}

// work is what a command does with the database. The struct that it returns has the members of the
// command's JSON; it may be returned beside an error, and then has what was done before.
type work func(ctx context.Context, db operate.DB) (any, error)

// Where commands work.
var (
	onPrimary pgconn.ValidateConnectFunc = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	anywhere  pgconn.ValidateConnectFunc // they change nothing: a standby will do
)

// run runs a command on a server that right takes, and prints what it returns by a page.
func (f *streamFlags) run(cmd *cobra.Command, right pgconn.ValidateConnectFunc, page string, do work) error {
	db, err := command.ConnectTo(cmd.Context(), cmd.ErrOrStderr(), "--database", f.database, right)
	if err != nil {
		return err
	}
	defer db.Close()
	done, err := do(cmd.Context(), db)
	if done == nil {
		return command.MaskConnect(err)
	}
	if a := command.AnswerOf(cmd); a.Wanted {
		return cmp.Or(command.MaskConnect(err), a.Fill(done))
	}
	out, failed := pages.Text(page, done)
	_, unwritten := io.WriteString(cmd.OutOrStdout(), out)
	return cmp.Or(command.MaskConnect(err), failed, unwritten)
}

// consumerFlag adds the flag by which every command about one topic names the consumer.
func consumerFlag(cmd *cobra.Command, consumer *string) {
	cmd.Flags().StringVar(consumer, "consumer", "", "name of the consumer in the spec (default the only one with a ledger of the topic)")
}

// theConsumer returns the consumer that is named or, if none is, the only one with a ledger of the
// topic.
func theConsumer(ctx context.Context, db operate.DB, named, topic string) (string, error) {
	if named != "" {
		return named, nil
	}
	return operate.ConsumerOf(ctx, db, topic)
}

// byFlags adds the flags that say who changes something, and why.
func byFlags(cmd *cobra.Command, by *operate.By) {
	flags := cmd.Flags()
	flags.StringVar(&by.Reason, "reason", "", "reason, which the ledger keeps")
	flags.Var(notEmpty(&by.Operator, "the ledger keeps who acted"), "operator", "name of the operator (default $USER, else the database role)")
	flags.BoolVar(&by.DryRun, "dry-run", false, "print what would be done, and do nothing")
	by.Operator = os.Getenv("USER")
	command.Require(cmd, "reason")
}

// changeFlags are the flags of all commands that append a row to a ledger.
type changeFlags struct {
	name   operate.Name
	by     operate.By
	others func(present []operate.Status) []operate.Change // what a command on all partitions leaves alone, and says so
}

// define adds the flags to a command; topic-id and partitions only if partitions is not nil.
func (f *changeFlags) define(cmd *cobra.Command, partitions *int32) {
	flags := cmd.Flags()
	consumerFlag(cmd, &f.name.Consumer)
	flags.StringVar(&f.name.Topic, "topic", "", "name of the topic")
	flags.Var(natural(&f.name.Partition), "partition", "number of the partition")
	if partitions != nil {
		flags.StringVar(&f.name.TopicID, "topic-id", "", "UUID of a topic that was recreated (default the last one seen)")
		flags.Var(natural(partitions), "partitions", "number of partitions of the topic")
	}
	byFlags(cmd, &f.by)
	command.Require(cmd, "topic")
	command.AsJSON(cmd, "changes")
}

// apply runs a command on some partitions; on every one that has a ledger if none is named.
func (f *changeFlags) apply(cmd *cobra.Command, flags *streamFlags, partitions []int32, do func(context.Context, operate.DB, operate.Name, operate.By) (operate.Change, error)) error {
	return flags.run(cmd, onPrimary, "changes", func(ctx context.Context, db operate.DB) (any, error) {
		consumer, err := theConsumer(ctx, db, f.name.Consumer, f.name.Topic)
		if err != nil {
			return nil, err
		}
		f.name.Consumer = consumer
		var names []operate.Name
		var others []operate.Change
		for _, number := range partitions {
			name := f.name
			name.Partition = number
			names = append(names, name)
		}
		if len(names) == 0 {
			present, err := operate.Present(ctx, db, consumer, f.name.Topic)
			if err != nil {
				return nil, err
			}
			for _, s := range present {
				names = append(names, s.Name)
			}
			if f.others != nil {
				others = f.others(present)
			}
		}
		var done struct {
			Changes []operate.Change `json:"changes"`
		}
		done.Changes, err = operate.Each(names, f.by, func(n operate.Name, by operate.By) (operate.Change, error) { return do(ctx, db, n, by) })
		if err == nil {
			done.Changes = append(done.Changes, others...)
		}
		return done, err
	})
}

// releaseCommand lets partitions try again.
func releaseCommand(flags *streamFlags) *cobra.Command {
	var (
		change changeFlags
		leave  operate.Leave
		all    bool
	)
	cmd := &cobra.Command{
		Use:   "release --topic T {--partition N | --all} [--consumer C] [--partitions COUNT] --reason TEXT",
		Short: "Resume halted partitions",
		Long: `Lets a halted partition try again, once the cause is gone. --partitions COUNT confirms that the
topic may have this number of partitions. A ledger that already has this number is left alone.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if all == cmd.Flags().Changed("partition") {
				return errors.New("want --partition N for one, or --all")
			}
			if cmd.Flags().Changed("partitions") && leave.Partitions == 0 {
				return errors.New("a topic has at least one partition, not 0")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			var partitions []int32
			if !all {
				partitions = []int32{change.name.Partition}
			}
			return change.apply(cmd, flags, partitions, func(ctx context.Context, db operate.DB, name operate.Name, by operate.By) (operate.Change, error) {
				return operate.Release(ctx, db, name, leave, by)
			})
		},
	}
	change.define(cmd, &leave.Partitions)
	cmd.Flags().BoolVar(&all, "all", false, "every partition of the topic, even healthy ones, which are taken over again immediately")
	cmd.Flags().BoolVar(&leave.Older, "older-version-may-run", false,
		"a newer version ran: accept that an older one may apply events again")
	cmd.Flags().BoolVar(&leave.Fewer, "fewer", false, "accept a COUNT below the ledger's, which was confirmed by mistake")
	cmd.MarkFlagsOneRequired("partition", "all") // for completion: PreRunE says it in better words
	cmd.MarkFlagsMutuallyExclusive("partition", "all")
	return cmd
}

// pauseCommand pauses partitions, or ends their pauses.
func pauseCommand(flags *streamFlags, verb, short, long string, do func(context.Context, operate.DB, operate.Name, operate.By) (operate.Change, error), others func([]operate.Status) []operate.Change) *cobra.Command {
	change := changeFlags{others: others}
	cmd := &cobra.Command{
		Use:   verb + " --topic T [--partition N] [--consumer C] --reason TEXT",
		Short: short,
		Long:  long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var partitions []int32
			if cmd.Flags().Changed("partition") {
				partitions = []int32{change.name.Partition}
			}
			return change.apply(cmd, flags, partitions, do)
		},
	}
	change.define(cmd, nil)
	cmd.Flag("partition").Usage = "number of the partition (default every one of the topic)"
	return cmd
}

// setCommand moves the positions of partitions, and begins the ledgers of those that have none.
func setCommand(flags *streamFlags) *cobra.Command {
	var (
		change changeFlags
		single int64
		target = operate.Target{From: halt.Anywhere}
		places = map[int32]int64{}
		moment moment
	)
	cmd := &cobra.Command{
		Use:   "set --topic T {--partition N --to OFFSET | --to PARTITION:OFFSET,... | [--partition N] --at TIME} [--consumer C] [--from OFFSET|none] [--apply-again] --reason TEXT",
		Short: "Set the offset of the next record to apply",
		Long: `Sets the position of a partition: the offset of the next record to apply. If it moves forward,
the offsets before OFFSET are skipped without effect. If it moves back, records that are read
again may take effect again, and --apply-again confirms that. --to 0:4711,1:388 sets several
partitions; --partition 0 --to 4711 sets one.

--at TIME queries the brokers for the first record at or after a time, in one partition or in
all that have a ledger. If there is no such record, it is the end of the partition. A partition
that is already there does not move; with --apply-again, neither does one that is before it.
Producers may set the times of records, so later records may have earlier times.

With --from OFFSET, nothing is done unless this is the current position. --from none begins a
ledger, and does nothing if there is one; it requires --topic-id.

If a database was reset but its broker was kept, there are two ways out. The error of the
partitions (ledger-missing) prints both.

With --to the group's committed offset, the records before that offset are skipped: their rows
are not written. With --to the first available offset, the topic is read again from its first
record: its rows are written, and its effects are called again.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			named, partition, byTime := cmd.Flags().Changed("partition"), change.name.Partition, cmd.Flags().Changed("at")
			switch {
			case byTime == cmd.Flags().Changed("to"):
				return errors.New("want either --to or --at TIME")
			case byTime && target.From == halt.NoLedger:
				return errors.New("--at moves partitions that have a ledger: with --from none give --to")
			case !byTime && named == (len(places) > 0):
				return errors.New("want --partition N --to OFFSET, or --to PARTITION:OFFSET,PARTITION:OFFSET for several")
			case named && cmd.Flags().Changed("partitions") && partition >= target.Partitions:
				return fmt.Errorf("--partition %d: the topic has %d partitions, numbered from 0", partition, target.Partitions)
			case target.From == halt.NoLedger && change.name.TopicID == "":
				return errors.New("--from none begins a ledger, and needs --topic-id: the partition's error and list show it")
			case named:
				places[partition] = single
			case target.From >= 0:
				return errors.New("--from OFFSET applies to one partition: give --partition N")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return change.apply(cmd, flags, slices.Sorted(maps.Keys(places)), func(ctx context.Context, db operate.DB, name operate.Name, by operate.By) (_ operate.Change, err error) {
				to := target
				if to.To = places[name.Partition]; cmd.Flags().Changed("at") {
					to, err = moment.target(ctx, db, name, target)
				}
				if err != nil {
					return operate.Change{}, err
				}
				return operate.Set(ctx, db, name, to, by)
			})
		},
	}
	change.define(cmd, &target.Partitions)
	cmd.Flags().Var(value{"OFFSETS", func(text string) error {
		if !strings.Contains(text, ":") {
			return number(&single, 0, math.MaxInt64).set(text)
		}
		for part := range strings.SplitSeq(text, ",") {
			p, err := place(part)
			if err != nil {
				return errors.New("want PARTITION:OFFSET, several with commas between them")
			}
			if _, twice := places[p.Partition]; twice {
				return fmt.Errorf("partition %d has two offsets", p.Partition)
			}
			places[p.Partition] = p.Offset
		}
		return nil
	}}, "to", "offset of the next record to apply: OFFSET, or PARTITION:OFFSET,...")
	cmd.Flags().Var(value{"OFFSET", func(text string) error {
		if target.From = halt.NoLedger; text == "none" {
			return nil
		}
		if number(&target.From, 0, math.MaxInt64).set(text) != nil {
			return errors.New("want an offset, or none")
		}
		return nil
	}}, "from", "do nothing unless this is the current position; none begins a ledger where there is none")
	cmd.Flags().BoolVar(&target.ApplyAgain, "apply-again", false, "accept that records may take effect again; required to move back")
	moment.define(cmd)
	cmd.MarkFlagsOneRequired("to", "at") // for completion: PreRunE says it in better words
	cmd.MarkFlagsMutuallyExclusive("to", "at")
	return cmd
}
