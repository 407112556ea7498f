package operate

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Opened is a letter with its record.
type Opened struct {
	Letter
	// LedgerAge is the age of the ledger's last row in seconds; nil if its rows are gone. Who owns
	// the partition, if anybody, did not write since.
	LedgerAge *float64 `json:"ledger_age_seconds"`
	Record    *Record  `json:"record"` // nil if it is not kept, or was erased
	// Returned is what the call of its effect returned, which a replay takes; nil if no call was
	// made and recorded, or it is not kept.
	Returned *Bytes `json:"returned"`
	// First is the row with the first copy of a conflict; nil if it is not known any more, or the
	// letter is of no conflict.
	First *Holder `json:"first_copy"`
	// Earlier are further letters of the same offset, the newest first: each time that the offset
	// was read again may have made one.
	Earlier []Letter `json:"earlier"`
}

// Record is a record as it was read.
type Record struct {
	Time     *time.Time `json:"time"`      // nil if it has none
	ByBroker bool       `json:"by_broker"` // the broker set the time when it appended the record
	Key      *Bytes     `json:"key"`       // nil if it has none
	Headers  []Header   `json:"headers"`
	Value    *Bytes     `json:"value"` // nil is a tombstone
}

// Header is one header of a record.
type Header struct {
	Name  string `json:"name"`
	Value *Bytes `json:"value"` // nil if it has none
}

// Bytes are bytes that may be text. One of Text and Hex is there.
type Bytes struct {
	Text *string `json:"text,omitempty"` // nil if people cannot read the bytes as they are
	Hex  string  `json:"hex,omitempty"`
	raw  []byte
}

// Raw are the bytes themselves.
func (b *Bytes) Raw() []byte { return b.raw }

// newBytes is nil for nil.
func newBytes(raw []byte) *Bytes {
	if raw == nil {
		return nil
	}
	b := &Bytes{raw: raw}
	if text := string(raw); printable(text) {
		b.Text = &text
	} else {
		b.Hex = hex.EncodeToString(raw)
	}
	return b
}

// printable reports whether a text is UTF-8 without anything that a terminal would act on, but
// for tabs and ends of lines.
func printable(text string) bool {
	bad := func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\r' && r != '\t' }
	return utf8.ValidString(text) && !strings.ContainsFunc(text, bad)
}

const nearLettersSQL = `
SELECT offs FROM idem_dead_letter WHERE stream = $1::int GROUP BY offs ORDER BY abs(offs - $2::bigint), offs LIMIT 5`

// Open returns the newest letter of a record, with the record. A record without letter is a
// [NoLetterError], a partition without ledger a [NotFoundError].
func Open(ctx context.Context, db DB, name Name, offset int64) (*Opened, error) {
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return nil, err
	}
	all, err := LettersAt(ctx, db, &status, offset)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, noLetter(ctx, db, &status, offset)
	}
	o := &Opened{Letter: all[0], Earlier: append([]Letter{}, all[1:]...)}
	if t := status.Tail; t != nil {
		o.LedgerAge = &t.AgeSeconds
	}
	stored, returned, err := o.Stored(ctx, db)
	if err == nil {
		o.Returned = newBytes(returned)
		o.Record, err = parse(stored)
	}
	if err != nil {
		return nil, err
	}
	if o.Class != wire.ReasonConflict || o.Key == "" {
		return o, nil
	}
	if o.First, err = firstCopy(ctx, db, o, &status); err == nil && !o.Called {
		err = unusedCall(ctx, db, o)
	}
	return o, err
}

// unusedCallSQL is a call whose result no event's rows rest on.
const unusedCallSQL = `SELECT coalesce(result, 'null') FROM idem_lease WHERE consumer = $1 AND key = $2::uuid AND state = 'd'`

// unusedCall finds the call that was made for a conflict by a process that did not live to know it
// is one. Of a call for another event of the key, the rows were written.
func unusedCall(ctx context.Context, db DB, o *Opened) error {
	if ok, err := has(ctx, db, "idem_lease"); err != nil || !ok {
		return err
	}
	var returned []byte
	err := db.QueryRow(ctx, unusedCallSQL, pgx.QueryExecModeExec, o.Consumer, o.Key).Scan(&returned)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	o.Called, o.Returned = err == nil, newBytes(returned)
	return Explain(err)
}

func noLetter(ctx context.Context, db DB, of *Status, offset int64) error {
	e := &NoLetterError{Place: Place{Consumer: of.Consumer, Topic: of.Topic, TopicID: of.TopicID, Partition: of.Partition, Offset: offset}}
	rows, err := db.Query(ctx, nearLettersSQL, pgx.QueryExecModeExec, of.Stream, offset)
	if err == nil {
		e.Near, err = pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	if err != nil {
		return Explain(err)
	}
	return e
}

// parse reads a stored record; nil is none.
func parse(stored []byte) (*Record, error) {
	if stored == nil {
		return nil, nil
	}
	m, err := record.Parse(stored)
	if err != nil {
		return nil, err
	}
	r := &Record{ByBroker: m.Appended, Key: newBytes(m.Key), Value: newBytes(m.Value), Headers: []Header{}}
	if !m.Time.IsZero() {
		r.Time = &m.Time
	}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, Header{h.Name, newBytes(h.Value)})
	}
	return r, nil
}
