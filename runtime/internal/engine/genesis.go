package engine

import (
	"context"
	"fmt"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// checkTopicID rejects a topic without an id: its ledger could not distinguish it from a topic
// that was deleted and recreated. The Source retries, because the broker may be upgraded.
func (t *takeOver) checkTopicID() error {
	if t.a.broker && t.a.TopicID == (wire.UUID{}) {
		return fmt.Errorf("topic %s has no id: the broker does not support topic ids, as Kafka 2.8 and later do; "+
			"without them, a topic that is deleted and recreated is not detected, and its records are lost", t.o.p.id.Topic)
	}
	return nil
}

// findChain finds the partition's chain, or creates it.
func (t *takeOver) findChain(ctx context.Context) error {
	var topic *wire.UUID
	if t.a.broker {
		topic = &t.a.TopicID
	}
	known, err := t.o.chain.Find(ctx, t.conn.Conn(), t.o.p.process.Service.Consumer, t.o.p.id, topic, t.a.TopicID)
	switch {
	case err != nil:
		return haltIfFinal(err)
	case known.Recreated && !known.Found:
		return t.recreated()
	case known.Found && known.Recreated:
		return t.superseded(ctx)
	case known.Found:
		return nil
	}
	return t.genesis(ctx, known.Added)
}

// genesis begins the chain at the offset that the broker and the spec determine.
func (t *takeOver) genesis(ctx context.Context, added bool) error {
	start, err := t.startOffset(added)
	if err != nil {
		return err
	}
	if err := t.checkOthers(ctx); err != nil {
		return err
	}
	s := t.o.p.process.Service
	first, err := t.o.chain.Begin(ctx, t.conn.Conn(), chain.Genesis{
		Consumer: s.Consumer, Partition: t.o.p.id, TopicID: t.a.TopicID, Start: start, Def: int32(s.Identity.Writes), Partitions: t.a.Partitions,
	})
	if err != nil {
		return haltIfFinal(err)
	}
	if first {
		t.o.p.process.Log.Info("the ledger of a partition begins", "topic", t.o.p.id.Topic, "partition", t.o.p.id.Number, "offset", start)
	}
	return nil
}

// startOffset returns where a partition without a ledger starts. A partition that was, or may have
// been, added after others had begun starts at the earliest record, so that none is missed.
func (t *takeOver) startOffset(added bool) (int64, error) {
	from := t.o.p.topic.StartFrom
	committed := t.committed.Offset
	mark, ours := ledger.ReadMark(committed, t.committed.Metadata)
	switch {
	case !t.a.broker:
		return t.a.start, nil
	case committed >= 0 && ours:
		return 0, t.ledgerMissing(committed, fmt.Sprintf(": consumer %s committed it from another database, or from a later state of this one, which has the rows of the records before it", mark.Consumer))
	case from == wire.Committed && committed >= 0:
		return committed, nil
	case committed >= 0:
		return 0, t.ledgerMissing(committed, "; start_from: committed takes over the group of another program")
	case from == wire.Latest && !added:
		return t.a.High, nil
	case from == wire.Committed:
		t.o.p.process.Log.Warn("the group has no committed offset of a partition, which begins at its earliest record: if another program has consumed the topic, this is not its group (idem.WithGroup)",
			"topic", t.o.p.id.Topic, "partition", t.o.p.id.Number, "offset", t.a.Low)
	}
	return t.a.Low, nil
}

// checkCommitted logs that another program has committed in this group since this one did. What it
// applied is applied again, unless its keys are known. If it only set the offsets, they no longer
// tell whether the database lost commits.
func (t *takeOver) checkCommitted() {
	next, committed := t.o.chain.Next(), t.committed.Offset
	if _, ours := ledger.ReadMark(committed, t.committed.Metadata); ours || committed <= next {
		return
	}
	more := "another program consumes in this group, or has set its offsets; if the database was also restored, it is unknown which effects were called before, and they are called again"
	if t.o.p.topic.StartFrom == wire.Committed {
		more = "if the program that this one takes over from has applied the records in between, make its ids known (idemgen adopt keys, docs/adopt.md), or they are applied again"
	}
	t.o.p.process.Log.Warn("the group has committed more than was applied here: "+more,
		"topic", t.o.p.id.Topic, "partition", t.o.p.id.Number, "next", next, "committed", committed)
}

// ledgerMissing halts a partition whose group has committed an offset, but that has no ledger.
// Only an operator knows whether the rows of the records before it are wanted in this database.
func (t *takeOver) ledgerMissing(committed int64, more string) error {
	return t.adopt(halt.LedgerMissing, committed,
		"the ledger is missing: the group has a committed offset, but this database never saw the partition (wrong or reset database, restored backup, renamed consumer)"+more)
}

// recreated halts a partition whose topic has another id than the one in the ledger. A tool that
// copies topics to another cluster also translates the group's committed offset; a recreated topic
// has no committed offset, unless this group has committed one since.
func (t *takeOver) recreated() error {
	committed := t.committed.Offset
	if committed < t.a.Low || committed > t.a.High {
		committed = t.a.Low // it is of another log
	}
	return t.adopt(halt.TopicRecreated, committed, "the topic has another id than in the ledger: it was deleted and recreated, or it is a copy in another cluster; its offsets are not those of the ledger")
}

// superseded halts a partition if another topic of the same name has been read since: the service
// was moved to another cluster and back. Records may have been copied back, at offsets that the
// ledger of this topic does not know.
func (t *takeOver) superseded(ctx context.Context) error {
	next, is, err := t.o.chain.Superseded(ctx, t.conn.Conn())
	if err != nil || !is {
		return haltIfFinal(err)
	}
	committed := t.committed.Offset
	set := func(to int64) halt.Way {
		way := setTo(next, to)
		way.TopicID = t.a.TopicID.String()
		return way
	}
	h := &verdict.Halt{Code: halt.TopicRecreated, Offset: -1, Ways: []halt.Way{set(next)},
		Reason: fmt.Sprintf("after offset %d of this topic the service read another topic of the same name: it was moved to another cluster and back; records that were copied back would be applied again", next)}
	if committed > next && committed <= t.a.High {
		h.Ways = []halt.Way{set(committed), set(next)}
	}
	return h
}

// adopt halts a partition that has no ledger. Its first way begins a ledger at the group's
// committed offset; if that skips records, another one begins it at the first record.
func (t *takeOver) adopt(code halt.Code, committed int64, reason string) error {
	h := &verdict.Halt{Code: code, Offset: -1, Reason: reason, Ways: []halt.Way{t.adoption(committed)}}
	if committed > t.a.Low {
		h.Ways = append(h.Ways, t.adoption(t.a.Low))
	}
	return h
}

// adoption returns the way that begins a chain at an offset.
func (t *takeOver) adoption(to int64) halt.Way {
	return halt.Way{TopicID: t.a.TopicID.String(), Partitions: t.a.Partitions, Move: &halt.Move{From: halt.NoLedger, To: to, First: to == t.a.Low}}
}
