package operate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/runtime/halt"
)

// Way is a way out of a halt: a command of idemgen stream, as a halted partition names it.
type Way struct {
	Command string // the whole command
	name    Name
	all     bool // every partition of the topic
	code    string
	to      *Target
	resume  bool
	leave   Leave
}

// special are characters that no command has, and that a shell may read as more than a word.
var special = regexp.MustCompile(`[^A-Za-z0-9._:/ -]`)

// ParseWay reads a command that a halted partition names.
func ParseWay(command string) (w Way, err error) {
	rest, found := strings.CutPrefix(command, "idemgen stream ")
	words := strings.Fields(rest)
	if special.MatchString(command) {
		return w, fmt.Errorf("%q has characters that mean something to a shell", command)
	}
	if !found || len(words) == 0 || !slices.Contains([]string{"set", "release", "resume"}, words[0]) {
		return w, fmt.Errorf("%q is not a command of idemgen stream", command)
	}
	w = Way{Command: command, name: Name{Partition: Any}, resume: words[0] == "resume"}
	if words[0] == "set" {
		w.to = &Target{From: Anywhere, To: -1}
	}
	for words = words[1:]; len(words) > 0; {
		flag := words[0]
		words = words[1:]
		if w.alone(flag) {
			continue
		}
		if len(words) == 0 {
			return w, fmt.Errorf("%q: %s has no value", command, flag)
		}
		if err := w.valued(flag, words[0]); err != nil {
			return w, fmt.Errorf("%q: %s: %w", command, flag, err)
		}
		words = words[1:]
	}
	if w.name.Consumer == "" || w.name.Topic == "" || w.all == (w.name.Partition >= 0) || w.to != nil && w.to.To < 0 {
		return w, fmt.Errorf("%q does not name one partition, or all, and where they go on", command)
	}
	return w, nil
}

// alone reads a flag without a value.
func (w *Way) alone(flag string) bool {
	switch {
	case flag == "--all":
		w.all = true
	case flag == "--apply-again" && w.to != nil:
		w.to.ApplyAgain = true
	case flag == "--older-version-may-run":
		w.leave.Older = true
	case flag == "--fewer":
		w.leave.Fewer = true
	default:
		return false
	}
	return true
}

// valued reads a flag with a value.
func (w *Way) valued(flag, value string) (err error) {
	number := func(bits int) int64 {
		var n int64
		if n, err = strconv.ParseInt(value, 10, bits); err == nil && n < 0 {
			err = errors.New("it is negative")
		}
		return n
	}
	switch {
	case flag == "--consumer":
		w.name.Consumer = value
	case flag == "--topic":
		w.name.Topic = value
	case flag == "--topic-id":
		w.name.TopicID = value
	case flag == "--reason": // the code; the operator's own reason is stored
		w.code = value
	case flag == "--partition":
		w.name.Partition = int32(number(32))
	case flag == "--partitions" && w.to != nil:
		w.to.Partitions = int32(number(32))
	case flag == "--partitions":
		w.leave.Partitions = int32(number(32))
	case flag == "--from" && w.to != nil && value == "none":
		w.to.From = NoLedger
	case flag == "--from" && w.to != nil:
		w.to.From = number(64)
	case flag == "--to" && w.to != nil:
		w.to.To = number(64)
	default:
		err = errors.New("it is not known")
	}
	return err
}

// Run runs the command, on every present partition of the topic if it is about all.
func (w *Way) Run(ctx context.Context, db DB, by By) ([]Change, error) {
	names := []Name{w.name}
	if w.all {
		names = nil
		present, err := Present(ctx, db, w.name.Consumer, w.name.Topic)
		if err != nil {
			return nil, err
		}
		for _, s := range present {
			names = append(names, s.Name)
		}
	}
	return Each(names, by, func(n Name, by By) (Change, error) {
		if w.to != nil {
			return Set(ctx, db, n, *w.to, by)
		}
		if w.resume {
			return Resume(ctx, db, n, by)
		}
		return Release(ctx, db, n, w.leave, by)
	})
}

// Costs says what the command loses or repeats.
func (w *Way) Costs() string {
	switch {
	case w.resume:
		return "Loses and repeats nothing: the partition continues where it was paused."
	case w.to == nil && w.leave.Older:
		return "For one window, duplicates of what the newer version applied may take effect again."
	case w.to == nil && w.leave.Partitions > 0:
		return "Loses nothing. The order of a key's records across the change is not defined."
	case w.to == nil && w.code == string(halt.DeadLetters):
		return "Loses and repeats nothing, but begins to count again: if the cause is still there, as many more records become dead letters. A deployment of the fix resumes the partition without this."
	case w.to == nil:
		return "Loses and repeats nothing: the partition retries, and halts again if the cause is still there."
	case w.to.From == NoLedger && w.to.To == 0:
		return "The topic is read from its first record: what an earlier ledger applied takes effect again, unless its key is still known."
	case w.to.From == NoLedger:
		return fmt.Sprintf("Records before offset %d never take effect here; those from it on take effect once.", w.to.To)
	case w.to.ApplyAgain:
		return fmt.Sprintf("Records from offset %d on are read again: those without a known key take effect again.", w.to.To)
	case w.to.From == w.to.To:
		return "Loses and repeats nothing, if the log before the position is still the same."
	}
	return fmt.Sprintf("Records before offset %d that were not applied never take effect: they are lost, and nothing of them is kept.", w.to.To)
}

// Advice is what an operator should know of a halt before anything is done.
type Advice struct {
	Happened string
	Check    string
}

// AdviceOn returns the advice on a code of a halt; none for other codes.
func AdviceOn(code string) Advice { return advice[halt.Code(code)] }

var advice = map[halt.Code]Advice{
	halt.TopicRecreated: {
		"The topic was deleted and created again, or the service reads a copy of it in another cluster. Its offsets count other records.",
		"Which of the two it was, and that it was meant. After a copy, skip to the group's committed offset; for a new topic, read from its first record. Whatever was not read from the former topic is lost: let the producer send it again.",
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
		"Another version of the service ran here, which identifies events in another way. This version would not recognize its duplicates.",
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
		"The log for the handler's name. Deploy a version that behaves: it takes the partition over by itself. Release is for a handler that recovered.",
	},
	halt.Database: {
		"The database rejected a statement for a reason unrelated to any record: a missing table or column, missing rights, a corrupt page.",
		"The SQLSTATE in the error. Apply the missing migration or grant the right, then release. Skip a record only if the fault is in that one record.",
	},
	halt.Pooler: {
		"A connection pooler in between does not support prepared statements.",
		"The pooler's settings: session pooling, or support for prepared statements.",
	},
	halt.Runtime: {
		"A bug in idemgen.",
		"The log, and report it. A release retries.",
	},
	halt.Paused: {
		"An operator paused the partition. Nothing is broken.",
		"That what it was paused for is done.",
	},
}
