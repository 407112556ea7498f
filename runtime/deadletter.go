package idem

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// letter is one dead letter: a record that the batch passes without effect.
type letter struct {
	message  *Message
	event    string
	reason   string // class word, ": ", and the rest; never a value of the record
	sqlstate *string
	key      *UUID
	print    *int32
	conflict bool
	stop     bool // the spec refuses the record itself: it must not become one
	policy   *wire.FailurePolicy
}

// letterOf makes the dead letter of a record that was refused after it was decoded.
func letterOf(m *Message, policy *wire.FailurePolicy, class, event string, err error) letter {
	l := letter{message: m, event: event, policy: policy, reason: class + ": "}
	if event != "" {
		l.reason += event + ": "
	}
	l.reason += storable(err.Error())
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		l.sqlstate = &pg.Code
	}
	return l
}

// reasonBytes is the most of a handler's error text that is kept.
const reasonBytes = 2000

// storable makes a handler's error text fit for a column of type text.
func storable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if len(text) > reasonBytes {
		text = strings.ToValidUTF8(text[:reasonBytes], "") + " ..."
	}
	return text
}

// refused makes the dead letter of a record that the plan did not take.
func refused(m *Message, err error) letter {
	l := letter{message: m, reason: wire.ReasonDecode + ": " + err.Error()}
	if s, ok := errors.AsType[*wire.StopError](err); ok {
		l.stop, l.reason = true, s.Reason
	}
	if d, ok := errors.AsType[*DecodeError](err); ok {
		l.event, l.reason = d.Event, d.Error()
	}
	if c, ok := errors.AsType[*ConflictError](err); ok {
		key := UUID(c.Key)
		l.event, l.reason, l.key, l.conflict = c.Event, c.Error(), &key, true
	}
	return l
}

// letterRows are the parameters of deadLetterSQL, in its order.
func letterRows(letters []letter) [][]byte {
	var rows wire.Rows
	for i := range letters {
		l := &letters[i]
		r := rows.Row()
		r.Int8(l.message.Offset)
		r.Text(l.reason)
		wire.OrNull(r, r.Text, l.sqlstate)
		wire.OrNull(r, r.UUID, l.key)
		wire.OrNull(r, r.Int4, l.print)
		r.Bytea(appendRecord(nil, l.message))
		r.Int8(l.policy.Keep.Microseconds())
	}
	return rows.Seal(nil)
}

// recordVersion is the first byte of idem_dead_letter.record.
const recordVersion = 1

// appendRecord encodes a record for idem_dead_letter: version, timestamp in microseconds
// since 1970 (zero time: minimum), key, value, then the headers. Lengths are one more than
// the number of bytes, 0 for null.
func appendRecord(b []byte, m *Message) []byte {
	b = append(b, recordVersion)
	micros := int64(-1 << 63)
	if !m.Time.IsZero() {
		micros = m.Time.UnixMicro()
	}
	b = binary.AppendVarint(b, micros)
	b = appendBytes(b, m.Key)
	b = appendBytes(b, m.Value)
	b = binary.AppendUvarint(b, uint64(len(m.Headers)))
	for _, h := range m.Headers {
		b = appendBytes(b, []byte(h.Name))
		b = appendBytes(b, h.Value)
	}
	return b
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return binary.AppendUvarint(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(v))+1), v...)
}

// warn logs a dead letter: coordinates, event and reason, never a payload.
func (o *owner) warn(l *letter) {
	ok, held := o.c.warnings.Pass(time.Now())
	if !ok {
		return
	}
	text := "dead letter"
	if l.conflict {
		text = "conflict: dead letter"
	}
	args := []any{"topic", o.id.Topic, "partition", o.id.Number, "offset", l.message.Offset, "event", l.event, "reason", l.reason}
	if held > 0 {
		args = append(args, "left_out", held)
	}
	o.c.log.Warn(text, args...)
}
