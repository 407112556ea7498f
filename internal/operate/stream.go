package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
)

// DB is a *pgxpool.Pool or a *pgx.Conn. A pool is better: it connects again if the
// connection is lost while a row is written, and so learns what became of it.
type DB interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Name names a partition of a topic as one consumer applies it.
type Name struct {
	Consumer  string
	Topic     string
	Partition int32
	// TopicID is the broker's id of the topic, as the text of a UUID. "" is the topic that was
	// seen last: it matters only for a topic that was deleted and made again.
	TopicID string
}

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

// By says who changes a stream, and why. Both are kept in the ledger.
type By struct {
	Operator string // "" is the database role
	Reason   string // required
	DryRun   bool   // find out what would be appended, and append nothing
}

// Status is a stream with its ledger's last row.
type Status struct {
	Stream          int32     `json:"stream"` // its number in the database
	Consumer        string    `json:"consumer"`
	Topic           string    `json:"topic"`
	TopicID         string    `json:"topic_id"`
	Former          bool      `json:"former"` // the topic was made again: another stream of the partition is the present one
	Partition       int32     `json:"partition"`
	CreatedAt       time.Time `json:"created_at"`
	Tail            *Tail     `json:"tail"`              // null: the rows of the ledger are gone
	OpenDeadLetters int64     `json:"open_dead_letters"` // neither replayed nor discarded
	LastOperatorRow *Move     `json:"last_operator_row"` // null: none within a year
}

// Name is what the commands call the stream.
func (s *Status) Name() Name { return Name{s.Consumer, s.Topic, s.Partition, s.TopicID} }

// RowHead is what is shown of every row of a ledger.
type RowHead struct {
	Seq       int64     `json:"seq"`
	Kind      string    `json:"kind"` // genesis, fence, batch, letter, operator, skip or rewind
	WrittenAt time.Time `json:"written_at"`
	Info      string    `json:"info"` // who and why; how many dead letters in a row the ledger ends with
}

// Move is a row by which an operator moved the position, or left it where it was.
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

// Kind is what people call a kind of row, by its letter in the table.
func Kind(letter byte) string { return kinds[letter] }

var kinds = map[byte]string{
	ledger.Genesis: "genesis", ledger.Fence: "fence", ledger.Batch: "batch", ledger.Letter: "letter",
	ledger.Operator: "operator", ledger.Skip: "skip", ledger.Rewind: "rewind",
}

// List returns the streams of a consumer, or of all with "", by consumer, topic, partition and
// age. The one of several that differ in their topic's id only that was written to last is the
// one that the topic has now; the others are former ones. A consumer without streams is a
// *NotFoundError.
func List(ctx context.Context, db DB, consumer string) ([]Status, error) {
	found, err := list(ctx, db, consumer)
	if err != nil || len(found) > 0 || consumer == "" {
		return found, err
	}
	all, err := list(ctx, db, "")
	if err != nil {
		return nil, err
	}
	return nil, notFound(Name{Consumer: consumer}, all)
}

// list is List, but finding nothing is no error.
func list(ctx context.Context, db DB, consumer string) ([]Status, error) {
	rows, _ := db.Query(ctx, ledger.ListSQL, pgx.QueryExecModeExec, consumer)
	all, err := pgx.CollectRows(rows, scanStatus)
	markFormer(all)
	return all, Explain(err)
}

// markFormer marks, of several streams of one partition, all but the one that was written to
// last: a topic id that was mistyped when it was adopted is not the topic's present one.
func markFormer(all []Status) {
	present := map[Name]*Status{}
	for i := range all {
		s := &all[i]
		n := s.Name()
		n.TopicID = ""
		switch p := present[n]; {
		case p == nil || p.Tail == nil || s.Tail != nil && !s.Tail.WrittenAt.Before(p.Tail.WrittenAt):
			if p != nil {
				p.Former = true
			}
			present[n] = s
		default:
			s.Former = true
		}
	}
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
	err := r.Scan(&s.Stream, &s.Consumer, &s.Topic, &s.TopicID, &s.Partition, &s.CreatedAt,
		&seq, &next, &epoch, &kind, &written, &age, &parts, &def, &window, &info, &letters.N, &letters.First,
		&s.OpenDeadLetters, &operatorSeq, &operatorKind, &operatorWritten, &operatorInfo, &from, &to, &unmoved)
	if err != nil {
		return s, err
	}
	s.CreatedAt = s.CreatedAt.UTC()
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

// Explain says what an error of the database means for an operator.
func Explain(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch pg.Code {
	case "42P01":
		return fmt.Errorf("this database does not have the runtime's tables, or not of this version: is it the service's? (%w)", err)
	case "42501":
		return fmt.Errorf("the database role may not do this; docs/operations.md lists the rights that it needs: %w", err)
	case "25006":
		return fmt.Errorf("this is a standby: connect to the primary: %w", err)
	}
	return err
}

// identity is the text of what a row says of the events' identity.
func identity(def int32) string {
	if def == ledger.NoIdentity {
		return ""
	}
	return fmt.Sprintf("%08x", uint32(def))
}
