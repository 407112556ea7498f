package engine

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
)

// promise returns what in the topic's spec relies on which partition a record is in.
func (t *takeOver) promise() string {
	switch topic := t.o.p.topic; {
	case topic.Chain == 0 && !topic.Ordered:
		return "affects on_failure.park: record_key"
	case topic.Chain == 0:
		return "assume: [ordered] rules out"
	case !topic.Ordered:
		return "copies: same_partition rules out"
	}
	return "assume: [ordered] and copies: same_partition rule out"
}

// partitionsChanged halts the partition until an operator confirms that records may have moved.
// The command is the same for all partitions of the topic, because some may have no chain yet.
func (t *takeOver) partitionsChanged(before int32) error {
	// Kafka never removes partitions: if it has fewer, too many were confirmed.
	way := halt.Way{All: true, Partitions: t.a.Partitions, Fewer: t.a.Partitions < before}
	return t.halt(halt.PartitionsChanged, fmt.Sprintf("the topic has %d partitions, the ledger was written with %d: records of one key may now be in another partition, which %s", t.a.Partitions, before, t.promise()), way)
}

// checkOthers halts a new partition if the topic's other partitions are halted, or will be,
// because the topic now has more partitions: the new one may contain later records of a key whose
// earlier records are in the others.
func (t *takeOver) checkOthers(ctx context.Context) error {
	p := t.o.p
	p.standby.others = nil
	if !t.a.broker || !t.o.p.topic.ReliesOnPartition() {
		return nil
	}
	n, err := chain.Others(ctx, t.conn, p.process.Service.Consumer, p.id, t.a.TopicID)
	switch {
	case err != nil:
		return haltIfFinal(err)
	case n == chain.Counts{}:
		return nil
	case n.Most > t.a.Partitions: // first: the command must say so
		err = t.partitionsChanged(n.Most)
	case n.Least != t.a.Partitions:
		err = t.partitionsChanged(n.Least)
	}
	if err != nil {
		p.standby.others = &n
	}
	return err
}
