package operate

import (
	"context"
	"regexp"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
)

// plain matches a word that a shell reads as itself.
var plain = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// waysOf returns the ways out of a partition's halt that a process reports: about this partition,
// and without those that no process writes.
func waysOf(of Name, reported []halt.Way) (all []halt.Way) {
	for _, w := range reported {
		w.Consumer, w.Topic, w.Partition = of.Consumer, of.Topic, of.Partition
		_, err := wire.ParseUUID(w.TopicID)
		moves := w.Move == nil || w.Move.From >= halt.NoLedger && w.Move.To >= 0
		if plain.MatchString(w.Consumer) && plain.MatchString(w.Topic) && plain.MatchString(string(w.Code)) && (w.TopicID == "" || err == nil) && w.Partitions >= 0 && moves {
			all = append(all, w)
		}
	}
	return all
}

// Take takes a way out of a halt, on every present partition of the topic if it is about all.
func Take(ctx context.Context, db DB, w halt.Way, by By) ([]Change, error) {
	names := []Name{{Consumer: w.Consumer, Topic: w.Topic, Partition: w.Partition, TopicID: w.TopicID}}
	if w.All {
		names = nil
		present, err := Present(ctx, db, w.Consumer, w.Topic)
		if err != nil {
			return nil, err
		}
		for _, s := range present {
			names = append(names, s.Name)
		}
	}
	return Each(names, by, func(n Name, by By) (Change, error) {
		switch m := w.Move; {
		case m != nil:
			return Set(ctx, db, n, Target{From: m.From, To: m.To, ApplyAgain: m.ApplyAgain, Partitions: w.Partitions}, by)
		case w.Code == halt.Paused:
			return Resume(ctx, db, n, by)
		}
		return Release(ctx, db, n, Leave{Older: w.Older, Partitions: w.Partitions, Fewer: w.Fewer}, by)
	})
}

// advice says of each code of a halt what happened, and what to check before anything is done.
var advice = map[halt.Code]struct{ happened, check string }{
	halt.TopicRecreated: {
		"The topic was deleted and created again, or the service reads a copy of it in another cluster. Its offsets belong to other records.",
		"Which of the two happened, and whether it was intended. After a copy, skip to the group's committed offset; for a new topic, read from its first record. Whatever was not read from the former topic is lost: let the producer send it again.",
	},
	halt.RetentionPassed: {
		"Kafka deleted records before they were read.",
		"Why the service was behind, and the topic's retention. Only the producer can send the records again.",
	},
	halt.LogTruncated: {
		"The log lost records that have taken effect: an unclean leader election cut its end, or a cluster was restored.",
		"With Kafka's tools, that the records are gone. If they come back, release the partition. Name the offset of the cut if you know it: what was written between it and the offset below is never read.",
	},
	halt.PartitionsChanged: {
		"The topic has another number of partitions: records of one key may now be in another partition.",
		"If order matters: that the old partitions were read to their end, or that producers were stopped meanwhile.",
	},
	halt.LedgerMissing: {
		"The group has a committed offset, but this database has never seen the partition.",
		"That this is the right database: a wrong address, a restored backup or a renamed consumer look like this.",
	},
	halt.LedgerGone: {
		"The partition is known, but the rows of its ledger are gone: they were deleted, or a backup was restored in part.",
		"What else is missing in the database.",
	},
	halt.KeysLost: {
		"Keys of applied events are missing: a restore lost them, or somebody deleted rows. Duplicates of those events would take effect again.",
		"The messages of the restore, and what else it lost. Restore the rows from the backup, then release.",
	},
	halt.NewerVersion: {
		"Another version of the service ran here, which identifies events differently. This version would not recognize its duplicates.",
		"Whether you can deploy a version that knows both: that needs no command.",
	},
	halt.RecordRefused: {
		"A record is rejected, and the spec says that its partition then stops.",
		"The error. Repair the data, the handler or the spec, then release; or skip the record, which loses it.",
	},
	halt.DeadLetters: {
		"Too many records in a row became dead letters: the cause is probably common to all of them.",
		"The groups of dead letters. Remove the cause, release, then replay them group by group.",
	},
	halt.LetterRefused: {
		"A record cannot be applied, and its dead letter cannot be written either.",
		"Triggers, policies and constraints that somebody added to idem_dead_letter.",
	},
	halt.Handler: {
		"A handler is missing, still runs after its context ended, or used its transaction as only the runtime may.",
		"The log for the handler's name. Deploy a fixed version: it takes over the partition by itself. Release is for a handler that recovered.",
	},
	halt.Database: {
		"The database rejected a statement for a reason unrelated to any record: a missing table or column, missing rights, a corrupt page.",
		"The SQLSTATE in the error. Apply the missing migration or grant the right, then release. Skip a record only if the fault is in that one record.",
	},
	halt.Pooler: {
		"A connection pooler in transaction mode is between the service and the database: a connection led to another session.",
		"The pooler's mode. Use its session mode, or connect directly, and restart the service.",
	},
	halt.Runtime: {
		"A bug in idemgen.",
		"The log, and report it. A release retries.",
	},
	halt.Paused: {
		"An operator paused the partition. Nothing is broken.",
		"That the work it was paused for is done.",
	},
}
