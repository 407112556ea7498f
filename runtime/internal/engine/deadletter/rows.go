package deadletter

import (
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/record"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

const insertSQL = `
INSERT INTO idem_dead_letter (stream, offs, seq, state, event, reason, sqlstate, order_key, key, record, expires_at)
SELECT $1::int, offs, $2::bigint, 'd', event, reason, sqlstate, order_key, key, record, clock_timestamp() + nullif(keep, 0) * interval '1 microsecond'
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::bytea[], $10::bigint[])
    AS d (offs, event, reason, sqlstate, order_key, key, record, keep)`

// Insert inserts dead letters.
var Insert = session.NewStatement("dead_letter", insertSQL)

// Statements insert letters with the row of a stream's chain; none if there are no letters.
func Statements(stream int32, seq int64, letters []Letter) []pipeline.Statement {
	if len(letters) == 0 {
		return nil
	}
	args := append([][]byte{ledger.Int4(stream), ledger.Int8(seq)}, rows(letters)...)
	return []pipeline.Statement{{Is: Insert, Args: args}}
}

// rows are the last parameters of insertSQL, in its order.
func rows(letters []Letter) [][]byte {
	var rows wire.Rows
	for i := range letters {
		l := &letters[i]
		r := rows.Row()
		r.Int8(l.Message.Offset)
		wire.OrNull(r, r.Text, l.eventName())
		r.Text(l.Reason)
		wire.OrNull(r, r.Text, l.SQLState)
		wire.OrNull(r, r.UUID, OrderKey(l.Message))
		wire.OrNull(r, r.UUID, l.Key)
		r.Bytea(record.Append(nil, l.Message))
		r.Int8(l.Policy.Keep.Microseconds())
	}
	return rows.Seal(nil)
}
