package wire

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Message is one Kafka record.
type Message struct {
	Topic       string
	Partition   int32
	Offset      int64
	LeaderEpoch int32     // epoch of the partition's leader that wrote it; -1 if unknown
	Time        time.Time // the record's timestamp; zero if it has none
	Appended    bool      // Time is when the broker appended the record (message.timestamp.type is LogAppendTime)
	Key         []byte    // nil if the record has no key
	Value       []byte    // nil is a tombstone, which differs from an empty value
	Headers     []Header  // in the record's order, repeated names kept

	shared    bool // Value is memory into which the next payload will be unpacked
	sharedKey bool // and so is Key
	opened    bool // Value differs from what was sent

	why, whyKey map[int]string // see Unpacked
}

// Unpacked returns the record with value in place of its payload: the unpacked payload, in memory
// that will be reused. why says why a field cannot read some of its values, by their positions.
func (m *Message) Unpacked(value []byte, why map[int]string) *Message {
	opened := *m
	opened.Value, opened.shared, opened.opened, opened.why = value, true, true, why
	return &opened
}

// UnpackedKey is Unpacked for the record key.
func (m *Message) UnpackedKey(key []byte, why map[int]string) *Message {
	opened := *m
	opened.Key, opened.sharedKey, opened.whyKey = key, true, why
	return &opened
}

// Why returns why a field cannot read some values of the unpacked payload, by their positions.
func (m *Message) Why() map[int]string { return m.why }

// WhyKey is Why for the record key.
func (m *Message) WhyKey() map[int]string { return m.whyKey }

// IsUnpacked reports whether the payload was unpacked, so that Value differs from the bytes sent.
func (m *Message) IsUnpacked() bool { return m.opened }

// kept returns the record for code that receives it after others were read.
func (m *Message) kept() *Message {
	if !m.shared && !m.sharedKey {
		return m
	}
	own := *m
	if m.shared {
		own.Value, own.shared = bytes.Clone(m.Value), false
	}
	if m.sharedKey {
		own.Key, own.sharedKey = bytes.Clone(m.Key), false
	}
	return &own
}

// Header is one header of a record.
type Header struct {
	Name  string
	Value []byte // nil is a header without a value
}

// Header returns the value of the only header called name. A missing, repeated or
// null header is a [DecodeError].
func (m *Message) Header(name string) ([]byte, error) {
	v, n := m.find(name)
	switch {
	case n == 0:
		return nil, &DecodeError{Path: "header " + name, Reason: "is missing; " + m.headers()}
	case n > 1:
		return nil, &DecodeError{Path: "header " + name, Reason: "occurs " + strconv.Itoa(n) + " times"}
	case v == nil:
		return nil, &DecodeError{Path: "header " + name, Reason: "must not be null"}
	}
	return v, nil
}

// mostHeaders is how many headers of a record are named.
const mostHeaders = 10

// headers says which headers the record has, in order. Names come from the producer, like an event
// type.
func (m *Message) headers() string {
	if len(m.Headers) == 0 {
		return "the record has no headers"
	}
	var names []string
	for i := range m.Headers {
		if i == mostHeaders {
			names = append(names, "...")
			break
		}
		names = append(names, quoteType(m.Headers[i].Name))
	}
	return "the record has " + strings.Join(names, ", ")
}

// JoinType appends the next of several texts that together form the event type. An empty text is
// left out.
func JoinType[T string | []byte](eventType []byte, next T) []byte {
	if len(next) == 0 {
		return eventType
	}
	return append(append(eventType, '/'), next...)
}

// OptHeader is like Header, but returns nil for a missing or null header.
func (m *Message) OptHeader(name string) ([]byte, error) {
	if v, n := m.find(name); n < 2 {
		return v, nil
	}
	return m.Header(name)
}

// find returns the first header called name and how many there are.
func (m *Message) find(name string) (value []byte, n int) {
	for i := range m.Headers {
		if m.Headers[i].Name == name {
			if n == 0 {
				value = m.Headers[i].Value
			}
			n++
		}
	}
	return value, n
}

// Tx is the transaction that also records the event: what a handler writes through it commits
// together with the ledger, or not at all. Its methods are those of pgx, so that a Tx can be
// passed as the DBTX of sqlc; it has no Commit method, because the runtime commits. An SQL text
// holds one statement; SendBatch sends several.
type Tx interface {
	// Queue runs a statement whose answer the handler does not need. Queued statements are sent in
	// the order in which they were queued, together with those of other events of the batch: before
	// the next statement that waits for an answer, at the latest with the commit. A batch of
	// handlers that only queue needs one round trip, or two if there are callbacks.
	//
	// As with pgx.Batch, the Exec, Query and QueryRow methods of the result set a callback for the
	// answer. Set it at once, before the next use of the Tx. It is not called if the statement fails
	// without an answer. Callbacks run before the commit, on the goroutine of the handlers, perhaps
	// within a statement of a later event; each has the time of a call. They must not use the Tx:
	// that is an error of the call.
	//
	// An error of the statement or of its callback has the same effect as if the handler had
	// returned it, although the handler, and middleware around it, have seen no error. Use Exec to
	// handle an error in the handler. A slice or map that is an argument must not be modified until
	// the handler returns.
	//
	// Use few texts: each one that is new in a session is prepared, which takes two round trips,
	// and up to 500 stay prepared. A text is not the name of a prepared statement, and not COPY.
	// While the rows of a query are open, what is queued stays in memory; more than 16 MiB of it are
	// an error of the call. Several goroutines may queue at once; every other method is for one
	// goroutine at a time. A connection that was taken from PgxTx before does not wait for what is
	// queued, and a tracer of pgx does not see it.
	Queue(sql string, args ...any) *pgx.QueuedQuery
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (int64, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}
