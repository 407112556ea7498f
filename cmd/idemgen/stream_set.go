package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemgen/idemgen/internal/operate"
)

// setCommand moves the positions of partitions, and begins the ledgers of those that have none.
func setCommand(flags *streamFlags) *cobra.Command {
	var (
		change    changeFlags
		partition int32
		to        places
		target    = operate.Target{From: operate.Anywhere}
	)
	cmd := &cobra.Command{
		Use:   "set --topic T --partition N --to OFFSET [--consumer C] [--from OFFSET|none] [--apply-again] --reason TEXT",
		Short: "Set the offset of the next record to apply",
		Long: `Sets the position of a partition, the offset of the next record to apply. Forward, the offsets up to
OFFSET pass without effect. Back, what is read again may take effect again, and --apply-again says
that you mean it. --to 0:4711,1:388 sets several; --partition 0 --to 4711 sets one.

With --from OFFSET nothing is done unless the position is this. --from none begins a ledger, and
nothing is done where there is one; --topic-id is needed then.

A database that was reset beside a broker that was kept has two ways out. The error of its
partitions (ledger-missing) prints both.

With --to the group's committed offset the records before that offset are skipped: their rows are
not written. With --to the first offset that is there the topic is read again from its first record:
its rows are written, and its effects are called again.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := cmd.Flags().Changed("partition")
			switch count := target.Partitions; {
			case named == (len(to.offsets) > 0):
				return errors.New("want --partition N --to OFFSET, or --to PARTITION:OFFSET,PARTITION:OFFSET for several")
			case named && cmd.Flags().Changed("partitions") && partition >= count:
				return fmt.Errorf("--partition %d is none of %d: they are numbered from 0", partition, count)
			case target.From == operate.NoLedger && change.name.TopicID == "":
				return errors.New("--from none begins a ledger, and needs --topic-id: the partition's error and list show it")
			case named:
				to.offsets = map[int32]int64{partition: to.single}
			case target.From >= 0:
				return errors.New("--from OFFSET is of one partition: give --partition N --to OFFSET")
			}
			return change.apply(cmd, flags, slices.Sorted(maps.Keys(to.offsets)), func(ctx context.Context, db operate.DB, name operate.Name, by operate.By) (operate.Change, error) {
				target.To = to.offsets[name.Partition]
				return operate.Set(ctx, db, name, target, by)
			})
		},
	}
	change.define(cmd)
	partitionFlag(cmd, &partition, "number of the one partition that --to is about")
	partitionsFlag(cmd, &target.Partitions)
	cmd.Flags().Var(&to, "to", "offset of the next record to apply: OFFSET, or PARTITION:OFFSET,...")
	cmd.Flags().Var(expected{&target.From}, "from", "do nothing unless the position is this; none begins a ledger where there is none")
	cmd.Flags().BoolVar(&target.ApplyAgain, "apply-again", false, "you know that records may take effect again; moving back asks for it, and says why")
	require(cmd, "to")
	return cmd
}

// expected is the value of --from: an offset, or none.
type expected struct{ from *int64 }

func (e expected) String() string { return "" }
func (e expected) Type() string   { return "OFFSET" }

func (e expected) Set(text string) error {
	if text == "none" {
		*e.from = operate.NoLedger
		return nil
	}
	if err := (natural[int64]{e.from, 64, ""}).Set(text); err != nil {
		return errors.New("want an offset, or none")
	}
	return nil
}

// places is the value of --to: an offset, or partitions with an offset each.
type places struct {
	single  int64
	offsets map[int32]int64
}

func (p *places) String() string { return "" }
func (p *places) Type() string   { return "OFFSETS" }

func (p *places) Set(text string) error {
	if !strings.Contains(text, ":") {
		return natural[int64]{&p.single, 64, ""}.Set(text)
	}
	for place := range strings.SplitSeq(text, ",") {
		number, at, _ := strings.Cut(place, ":")
		partition, err := strconv.ParseUint(number, 10, 31)
		offset, errAt := strconv.ParseUint(at, 10, 63)
		if err != nil || errAt != nil {
			return errors.New("want PARTITION:OFFSET, several with commas between them")
		}
		if _, twice := p.offsets[int32(partition)]; twice {
			return fmt.Errorf("partition %d has two offsets", partition)
		}
		if p.offsets == nil {
			p.offsets = map[int32]int64{}
		}
		p.offsets[int32(partition)] = int64(offset)
	}
	return nil
}
