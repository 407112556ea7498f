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

	"github.com/idemgen/idemgen/runtime/stream"
)

// adoptCommand begins the ledgers of partitions that have none.
func adoptCommand(flags *streamFlags) *cobra.Command {
	var (
		change           changeFlags
		partition, count int32
		to               places
	)
	cmd := &cobra.Command{
		Use:   "adopt --consumer C --topic T --topic-id UUID --to PARTITION:OFFSET,... --reason TEXT",
		Short: "Begin a ledger at an offset, where there is none",
		Long: `Begins the ledger of a partition at an offset, where there is none.
--to 0:4711,1:388 begins several; --partition 0 --to 4711 begins one.

A database that was reset beside a broker that was kept has two ways out. The error of its
partitions (ledger-missing) prints both.

With --to the group's committed offset the records before that offset are skipped: their rows are
not written. With --to the first offset that is there the topic is read again from its first record:
its rows are written, and its effects are called again.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := cmd.Flags().Changed("partition")
			if named == (len(to.offsets) > 0) {
				return errors.New("want --partition N --to OFFSET, or --to PARTITION:OFFSET,PARTITION:OFFSET for several")
			}
			if named && cmd.Flags().Changed("partitions") && partition >= count {
				return noneOf(partition, count)
			}
			if named {
				to.offsets = map[int32]int64{partition: to.single}
			}
			return change.apply(cmd, flags, slices.Sorted(maps.Keys(to.offsets)), func(ctx context.Context, db stream.DB, name stream.Name, by stream.By) (stream.Change, error) {
				return stream.Adopt(ctx, db, name, stream.Adoption{To: to.offsets[name.Partition], Partitions: count}, by)
			})
		},
	}
	change.define(cmd)
	cmd.Flags().Lookup("topic-id").Usage = "UUID of the topic"
	partitionFlag(cmd, &partition, "number of the one partition that --to is about")
	partitionsFlag(cmd, &count)
	cmd.Flags().Var(&to, "to", "offset of the next record to apply: OFFSET, or PARTITION:OFFSET,...")
	require(cmd, "topic-id", "to")
	return cmd
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
