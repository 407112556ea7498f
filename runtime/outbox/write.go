package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Tx is the transaction that the events belong to: a [pgx.Tx], or the transaction that idemgen's
// runtime passes to a handler.
type Tx interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Write writes events into idem_outbox, in order and in one round trip. In a handler it queues
// the statements: their errors are then those of the handler, after it has returned. Nothing is
// sent to Kafka unless the transaction commits. An error is about the first event that cannot be
// written. The transaction must then be rolled back, unless the error is [ErrRefused]: in that
// case nothing was sent to the database.
func Write(ctx context.Context, tx Tx, events ...Event) error {
	b := &pgx.Batch{}
	for i := range events {
		if err := queue(b, &events[i], idsOf(tx)); err != nil {
			return fmt.Errorf("outbox: event %d, of type %q: %w: %w", i+1, events[i].Type, ErrRefused, err)
		}
	}
	if len(events) == 0 {
		return nil
	}
	if queues, ok := tx.(interface {
		Queue(sql string, args ...any) *pgx.QueuedQuery
	}); ok { // the runtime reports an error as the handler's
		for _, q := range b.QueuedQueries {
			queues.Queue(q.SQL, q.Arguments...)
		}
		return nil
	}
	sent := tx.SendBatch(ctx, b)
	var err error
	for i := 0; i < len(events) && err == nil; i++ {
		if _, err = sent.Exec(); err != nil {
			err = fmt.Errorf("outbox: event %d, of type %q: %w", i+1, events[i].Type, explained(err))
		}
	}
	return cmp.Or(err, sent.Close())
}

// ErrRefused says that an event is invalid. Nothing was sent to the database.
var ErrRefused = errors.New("the event is invalid")

// idsOf returns what derives ids of events in a handler's transaction; nil in any other one.
func idsOf(tx Tx) func(subject string) [16]byte {
	if t, ok := tx.(interface{ OutboxID(subject string) [16]byte }); ok {
		return t.OutboxID
	}
	return nil
}

// queue adds the insert of an event. ids, which may be nil, derives the id that it lacks.
func queue(b *pgx.Batch, e *Event, ids func(subject string) [16]byte) error {
	if err := e.check(); err != nil {
		return err
	}
	columns, args := []string{"aggregatetype", "aggregateid", "type", "payload"}, []any{e.AggregateType, e.AggregateID, e.Type, nil}
	if e.Payload != nil {
		payload, err := e.Payload()
		if err != nil {
			return fmt.Errorf("its payload cannot be encoded: %w", err)
		}
		args[3] = append([]byte{}, payload...) // NULL is a tombstone
	}
	id := e.ID
	if id == [16]byte{} && ids != nil {
		id = ids(fmt.Sprintf("%q %q %q", e.AggregateType, e.AggregateID, e.Type))
	}
	if id != [16]byte{} {
		columns, args = append(columns, "id"), append(args, pgtype.UUID{Bytes: id, Valid: true})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		columns, args = append(columns, pgx.Identifier{name}.Sanitize()), append(args, e.Headers[name])
	}
	numbers := make([]string, len(args))
	for i := range numbers {
		numbers[i] = "$" + strconv.Itoa(i+1)
	}
	b.Queue("INSERT INTO idem_outbox ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(numbers, ", ")+")", args...)
	return nil
}

// explained says what to do about an error of the database.
func explained(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return err
	case pg.Code == "42P01": // undefined_table
		return fmt.Errorf("%w; idemgen outbox migration prints the SQL that creates the table", err)
	case pg.Code == "42703": // undefined_column
		return fmt.Errorf("%w; each header needs a column: ALTER TABLE idem_outbox ADD COLUMN ... text", err)
	}
	return err
}
