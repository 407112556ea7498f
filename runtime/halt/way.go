package halt

import (
	"fmt"
	"strings"
)

// Way is a way out of a halt: what "idemgen stream" does to a partition.
type Way struct {
	Code      Code   `json:"code"` // why the partition is halted
	Consumer  string `json:"consumer,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Partition int32  `json:"partition,omitempty"`
	TopicID   string `json:"topic_id,omitempty"` // "" is the present topic
	// All partitions of the topic are meant, because those concerned may have no ledger.
	All bool `json:"all,omitempty"`
	// Move sets the position. Without it the partition is released, or resumed if it is paused.
	Move       *Move `json:"move,omitempty"`
	Partitions int32 `json:"partitions,omitempty"` // that the topic has; 0 if that does not matter
	Fewer      bool  `json:"fewer,omitempty"`      // Partitions is below the ledger's, which was confirmed by mistake
	Older      bool  `json:"older,omitempty"`      // an older version of the service may continue
}

// Move is a new position of a partition.
type Move struct {
	From       int64 `json:"from"`                  // the position before, [NoLedger] or [Anywhere]
	To         int64 `json:"to"`                    // offset of the next record to apply
	First      bool  `json:"first,omitempty"`       // To is the first record of the log
	ApplyAgain bool  `json:"apply_again,omitempty"` // To is before From
}

// Special values of From.
const (
	Anywhere int64 = -1 // the position is not compared
	NoLedger int64 = -2 // there is none: a ledger begins
)

// Pass returns the way that skips a record without effect. From is not compared, because there may
// be gaps before the record.
func (w Way) Pass(offset int64) Way {
	w.Move = &Move{From: Anywhere, To: offset + 1}
	return w
}

// Verb returns the command of "idemgen stream" that goes this way.
func (w Way) Verb() string {
	switch {
	case w.Move != nil:
		return "set"
	case w.Code == Paused:
		return "resume"
	}
	return "release"
}

// String returns the whole command. Its reason, which the ledger keeps, is the code; operators may
// write more.
func (w Way) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "idemgen stream %s --consumer %s --topic %s", w.Verb(), w.Consumer, w.Topic)
	if w.All {
		b.WriteString(" --all")
	} else {
		fmt.Fprintf(&b, " --partition %d", w.Partition)
	}
	if m := w.Move; m != nil {
		switch {
		case m.From == NoLedger:
			b.WriteString(" --from none")
		case m.From >= 0:
			fmt.Fprintf(&b, " --from %d", m.From)
		}
	}
	if w.TopicID != "" {
		b.WriteString(" --topic-id " + w.TopicID)
	}
	if m := w.Move; m != nil {
		fmt.Fprintf(&b, " --to %d", m.To)
		if m.ApplyAgain {
			b.WriteString(" --apply-again")
		}
	}
	if w.Partitions > 0 {
		fmt.Fprintf(&b, " --partitions %d", w.Partitions)
	}
	if w.Fewer {
		b.WriteString(" --fewer")
	}
	if w.Older {
		b.WriteString(" --older-version-may-run")
	}
	fmt.Fprintf(&b, " --reason %s", w.Code)
	return b.String()
}

// Costs says what the way loses or repeats.
func (w Way) Costs() string {
	switch m := w.Move; {
	case m == nil && w.Code == Paused:
		return "nothing is lost or repeated: the partition continues where it was paused"
	case m == nil && w.Older:
		return "for one window, duplicates of events that the newer version applied may take effect again"
	case m == nil && w.Partitions > 0:
		return "nothing is lost; the order of a key's records across the change is not defined"
	case m == nil && w.Code == DeadLetters:
		return "nothing is lost or repeated, but the count restarts: if the cause persists, as many more records become dead letters; deploying a fix resumes the partition without this command"
	case m == nil:
		return "nothing is lost or repeated: the partition retries, and halts again if the cause persists"
	case m.From == NoLedger && (m.First || m.To == 0):
		return Rereads
	case m.From == NoLedger:
		return Skips
	case m.ApplyAgain:
		return fmt.Sprintf("records from offset %d on are read again: those without a known key take effect again", m.To)
	case m.From == m.To:
		return "nothing is lost or repeated, if the log before the position is still the same"
	default:
		return fmt.Sprintf("records before offset %d that were not applied are lost: they never take effect, and no data of theirs is kept", m.To)
	}
}
