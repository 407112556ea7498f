package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Name names a partition of a topic as one consumer applies it.
type Name struct {
	Consumer  string `json:"consumer"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// TopicID is the broker's id of the topic, as the text of a UUID. "" means the topic that was
	// seen last. It matters only for a topic that was recreated.
	TopicID string `json:"topic_id"`
}

// Any means all partitions.
const Any int32 = -1

func (n Name) String() string {
	if n.Topic == "" {
		return "consumer " + n.Consumer
	}
	if n.Consumer == "" {
		return "topic " + n.Topic
	}
	if n.Partition < 0 {
		return fmt.Sprintf("%s of %s", n.Topic, n.Consumer)
	}
	return fmt.Sprintf("%s/%d of %s", n.Topic, n.Partition, n.Consumer)
}

// Status is a stream with its ledger's last row, or a partition without a ledger that a process
// reports: it has only Name, without the topic's id, and Reported.
type Status struct {
	Stream int32 `json:"stream"` // its number in the database; 0: the partition has no ledger
	Name
	Former          bool      `json:"former"` // the topic was made again: another stream of the partition is the present one
	CreatedAt       time.Time `json:"created_at"`
	Tail            *Tail     `json:"tail"`              // null: there is no ledger, or its rows are gone
	OpenDeadLetters int64     `json:"open_dead_letters"` // neither replayed nor discarded; 1,001 means more than 1,000
	LastOperatorRow *Move     `json:"last_operator_row"` // null: none within a year
	Lost            *Lost     `json:"lost"`              // null: the database lost no commits of it, as far as is known
	Reported        *Reported `json:"reported"`          // null: no process reports the partition, so its state is not known
}

// Lost are records whose commits a restore or a failover took back: they were applied again.
type Lost struct {
	FoundAt time.Time `json:"found_at"`
	From    int64     `json:"from"` // offset of the first one
	To      int64     `json:"to"`   // after the last one
}

// Letters is the number of open dead letters in words.
func (s *Status) Letters() string {
	if s.OpenDeadLetters > 1000 {
		return "1000+"
	}
	return fmt.Sprint(s.OpenDeadLetters)
}

// RowHead is the part of a ledger row that is always shown.
type RowHead struct {
	Seq       int64     `json:"seq"`
	Kind      string    `json:"kind"` // genesis, fence, batch, letter, operator, skip, rewind or pause
	WrittenAt time.Time `json:"written_at"`
	Info      string    `json:"info"` // who and why; how many dead letters in a row the ledger ends with
}

// Move is a row with which an operator moved or confirmed the position.
type Move struct {
	RowHead
	From int64 `json:"from"` // position before
	To   int64 `json:"to"`   // and after
}

// Tail is the last row of a ledger.
type Tail struct {
	RowHead
	Position   int64   `json:"position"`     // offset of the next record to apply
	Epoch      int32   `json:"leader_epoch"` // of the record before the position; -1 if it is not known
	AgeSeconds float64 `json:"age_seconds"`
	Unmoved    float64 `json:"-"`           // seconds for which the position has not moved
	Partitions int32   `json:"partitions"`  // that the topic had
	Identity   string  `json:"identity"`    // what the service that wrote last says of its events, 8 hex digits; "" if none has written yet
	WindowRows int64   `json:"window_rows"` // rows whose keys are known
}

// kinds are the kinds of rows, by their letters in the table.
var kinds = map[byte]string{
	ledger.Genesis: "genesis", ledger.Fence: "fence", ledger.Batch: "batch", ledger.Letter: "letter",
	ledger.Operator: "operator", ledger.Skip: "skip", ledger.Rewind: "rewind", ledger.Pause: "pause",
}

// List returns the streams of a consumer, or of all consumers if it is "", ordered by consumer,
// topic, partition and age. Of several streams that differ only in the topic's id, the one that
// was written last is the present one; the others are former ones. Only List and [Present] set
// Reported, and only List has the partitions that processes report and that have no ledger.
func List(ctx context.Context, db DB, consumer string) ([]Status, error) {
	found, others, err := reported(ctx, db, Name{Consumer: consumer, Partition: Any})
	if _, none := errors.AsType[*NotFoundError](err); err != nil && !(none && len(others) > 0) {
		return nil, err
	}
	for name, r := range others {
		found = append(found, Status{Name: name, Reported: r})
	}
	slices.SortStableFunc(found, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return found, nil
}

// Present returns the streams of the present topic: one per partition.
func Present(ctx context.Context, db DB, consumer, topic string) ([]Status, error) {
	found, _, err := reported(ctx, db, Name{Consumer: consumer, Topic: topic, Partition: Any})
	return slices.DeleteFunc(found, func(s Status) bool { return s.Former }), err
}

// NoLedger reports whether the partition has no ledger, not even one whose rows are gone.
func (s *Status) NoLedger() bool { return s.Stream == 0 }

// reported returns the streams that n names, with what processes report of them, and what
// processes report of other partitions, even if there are no such streams.
func reported(ctx context.Context, db DB, n Name) (found []Status, others map[Name]*Reported, err error) {
	found, err = named(ctx, db, n)
	if _, none := errors.AsType[*NotFoundError](err); err != nil && !none {
		return nil, nil, err
	}
	others, failed := reports(ctx, db, n.Consumer, found)
	return found, others, cmp.Or(failed, err)
}

// StreamOf returns the stream that n names; without a topic id, the present one.
func StreamOf(ctx context.Context, db DB, n Name) (Status, error) {
	found, err := named(ctx, db, n)
	if err != nil || len(found) == 0 {
		return Status{}, err
	}
	return found[max(0, slices.IndexFunc(found, func(s Status) bool { return !s.Former }))], nil
}

// ConsumerOf returns the only consumer that has a ledger of a topic.
func ConsumerOf(ctx context.Context, db DB, topic string) (string, error) {
	found, err := named(ctx, db, Name{Topic: topic, Partition: Any})
	var consumers []string
	for _, s := range found {
		consumers = append(consumers, s.Consumer)
	}
	if consumers = slices.Compact(consumers); err == nil && len(consumers) != 1 {
		err = fmt.Errorf("several consumers have a ledger of %s: name one with --consumer: %s", topic, strings.Join(consumers, ", "))
	}
	return strings.Join(consumers, ", "), err
}

// named returns the streams that n names, where "" and [Any] mean all. If n names streams, but
// there are none, the error is a *NotFoundError.
func named(ctx context.Context, db DB, n Name) (found []Status, err error) {
	if n.TopicID != "" {
		id, err := topicID(n.TopicID)
		if err != nil {
			return nil, err
		}
		n.TopicID = id.String()
	}
	all, err := query(ctx, db, scanStatus, ledger.ListSQL)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if (n.Consumer == "" || s.Consumer == n.Consumer) && (n.Topic == "" || s.Topic == n.Topic) &&
			(n.Partition < 0 || s.Partition == n.Partition) && (n.TopicID == "" || s.TopicID == n.TopicID) {
			found = append(found, s)
		}
	}
	if len(found) == 0 && n != (Name{Partition: Any}) {
		return nil, notFound(n, all)
	}
	return found, nil
}

// NotFoundError means that the database has no such stream. It names those that it has.
type NotFoundError struct {
	Name Name
	What string   // what Near has: partitions of the topic, else topics of the consumer, else consumers
	Near []string // the first 20
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("this database has no ledger of %v", e.Name)
	if e.Name.TopicID != "" {
		text += " with topic id " + e.Name.TopicID
	}
	if len(e.Near) == 0 {
		return text + ", nor any other: is it the right one?"
	}
	return fmt.Sprintf("%s; it has %s %s", text, e.What, strings.Join(e.Near, ", "))
}

func notFound(n Name, all []Status) *NotFoundError {
	near := map[string][]string{}
	for _, s := range all {
		switch {
		case n.Consumer != "" && s.Consumer != n.Consumer:
			near["consumers"] = append(near["consumers"], s.Consumer)
		case s.Topic != n.Topic:
			near["topics"] = append(near["topics"], s.Topic)
		case n.TopicID != "" && s.Partition == n.Partition:
			near["partitions"] = append(near["partitions"], fmt.Sprintf("%d (topic id %s)", s.Partition, s.TopicID))
		default:
			near["partitions"] = append(near["partitions"], fmt.Sprint(s.Partition))
		}
	}
	slices.Sort(near["topics"]) // of several consumers
	e := &NotFoundError{Name: n}
	for _, e.What = range []string{"partitions", "topics", "consumers"} {
		if e.Near = slices.Compact(near[e.What]); len(e.Near) > 0 {
			break
		}
	}
	e.Near = e.Near[:min(len(e.Near), 20)]
	return e
}

func scanStatus(r pgx.CollectableRow) (Status, error) {
	var s Status
	var seq, next, window, operatorSeq, from, to *int64
	var kind, operatorKind *string
	var written, operatorWritten *time.Time
	var age, unmoved *float64
	var epoch, parts, def *int32
	var info, operatorInfo string
	var letters ledger.InRow
	var lostAt *time.Time
	var lost Lost
	err := r.Scan(&s.Stream, &s.Consumer, &s.Topic, &s.TopicID, &s.Partition, &s.Former, &s.CreatedAt,
		&seq, &next, &epoch, &kind, &written, &age, &parts, &def, &window, &info, &letters.N, &letters.First,
		&s.OpenDeadLetters, &operatorSeq, &operatorKind, &operatorWritten, &operatorInfo, &from, &to, &unmoved, &lostAt, &lost.From, &lost.To)
	if err != nil {
		return s, err
	}
	s.CreatedAt = s.CreatedAt.UTC()
	if lostAt != nil {
		lost.FoundAt = lostAt.UTC()
		s.Lost = &lost
	}
	if seq != nil {
		s.Tail = &Tail{
			RowHead:  RowHead{*seq, kinds[(*kind)[0]], written.UTC(), ledger.Said(info, letters)},
			Position: *next, Epoch: *epoch, AgeSeconds: *age, Unmoved: *unmoved, Partitions: *parts, Identity: identity(*def), WindowRows: *window,
		}
	}
	if operatorSeq != nil {
		s.LastOperatorRow = &Move{RowHead{*operatorSeq, kinds[(*operatorKind)[0]], operatorWritten.UTC(), operatorInfo}, *from, *to}
	}
	return s, nil
}

// identity returns the identity of events in a row as text.
func identity(def int32) string {
	if def == ledger.NoIdentity {
		return ""
	}
	return fmt.Sprintf("%08x", uint32(def))
}
