package deadletter

import (
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A letter is kept from the time of the process ($15) on if the database's clock is behind that,
// as keys are (ledger.AppendSQL).
const insertSQL = `
INSERT INTO idem_dead_letter (stream, offs, seq, state, parks, event, reason, sqlstate, order_key, key, result, response, version, record, created_at, expires_at)
SELECT $1::int, offs, $2::bigint, CASE WHEN waits THEN 'w'::"char" ELSE 'd' END, parks, event, reason, sqlstate, order_key, key, result, response, $16::text, record, at, at + nullif(keep, 0) * interval '1 microsecond'
FROM (SELECT CASE WHEN $15::timestamptz > clock_timestamp() + ` + ledger.ToleranceSQL + ` THEN $15 ELSE clock_timestamp() END AS at OFFSET 0) AS now,
    unnest($3::bigint[], $4::boolean[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::uuid[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bigint[])
    AS d (offs, waits, parks, event, reason, sqlstate, order_key, key, result, response, record, keep)`

// version is that of this program.
var version = []byte(process.Version())

// Insert inserts dead letters.
var Insert = session.NewStatement("dead_letter", insertSQL)

// Statements returns the statements that insert letters with the row of a stream's chain; none if
// there are no letters. at is the time of the process.
func Statements(stream int32, seq int64, at time.Time, letters []Letter) []pipeline.Statement {
	if len(letters) == 0 {
		return nil
	}
	args := append([][]byte{ledger.Int4(stream), ledger.Int8(seq)}, rows(letters)...)
	args = append(args, ledger.Timestamp(at), version)
	return []pipeline.Statement{{Is: Insert, Args: args}}
}

// mostKept is the length in bytes up to which a letter keeps a value. A longer value stays in
// Kafka, at the letter's offset.
const mostKept = 16 << 20

// kept returns the part of a result that is kept.
func kept(returned []byte, drop bool) []byte {
	if drop && returned != nil {
		return []byte{}
	}
	return returned
}

// bytea adds bytes; nil is NULL.
func bytea(r *wire.Rows, b []byte) {
	if b == nil {
		r.Null(r.Bytea)
		return
	}
	r.Bytea(b)
}

// rows are the last parameters of insertSQL, in order.
func rows(letters []Letter) [][]byte {
	var rows wire.Rows
	for i := range letters {
		l := &letters[i]
		r := rows.Row()
		r.Int8(l.Message.Offset)
		r.Bool(l.Waits)
		r.Bool(l.parks())
		wire.OrNull(r, r.Text, l.eventName())
		r.Text(l.Reason)
		wire.OrNull(r, r.Text, l.SQLState)
		wire.OrNull(r, r.UUID, OrderKey(l.Message))
		wire.OrNull(r, r.UUID, l.Key)
		drop := (l.Policy.Drop || len(l.Message.Value) > mostKept) && !l.Waits
		bytea(r, kept(l.Returned, drop))
		if drop {
			r.Null(r.Bytea)
		} else {
			bytea(r, l.Response)
		}
		if drop {
			r.Null(r.Bytea)
		} else {
			r.Bytea(record.Append(nil, l.Message))
		}
		r.Int8(l.Policy.Keep.Microseconds())
	}
	return rows.Seal(nil)
}
