package deadletter

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Erasure is an event with erase_traces that takes effect: what is kept of earlier records of its
// record key goes.
type Erasure struct {
	Key    wire.UUID // hash of the record key
	Offset int64
	By     string // the event's record, for people
}

// NewErasure is the erasure of a record's key.
func NewErasure(m *wire.Message) Erasure {
	return Erasure{Key: *OrderKey(m), Offset: m.Offset, By: fmt.Sprintf("%s %d:%d", m.Topic, m.Partition, m.Offset)}
}

// eraseLettersSQL erases records and texts of letters of record keys. In the stream of the event
// that erases they are those of records before it. In other streams of the record key's topics
// they are all that there are: partitions have no order among each other. A batch, for which $8 is
// true, ends the wait in its own stream, too: a dead letter holds nothing up any more, and what
// waited is discarded. In other streams the owners, who know what waits, are asked to discard the
// dead letter; what waited behind it is discarded when its turn comes.
const eraseLettersSQL = `
WITH found AS (
    SELECT d.stream, d.offs, d.seq, d.state, d.parks, e.by, d.stream = $3::int AND $8::boolean AS own
    FROM unnest($4::uuid[], $5::bigint[], $6::text[]) AS e (order_key, offs, by)
    JOIN idem_dead_letter d ON d.order_key = e.order_key AND d.erased_by IS NULL
    JOIN idem_stream s ON s.stream = d.stream AND s.consumer = $1 AND s.topic ~ $2
    WHERE d.stream <> $3 OR d.offs <= e.offs OR $8 AND d.seq < $7::bigint
    ORDER BY d.stream, d.offs, d.seq FOR UPDATE OF d
), ended AS (
    SELECT f.stream, f.offs, f.seq, f.by, f.own, f.state = 'w' AND f.own AS ends, f.state = 'd' AND f.parks AND NOT f.own AS asks FROM found f
)
UPDATE idem_dead_letter AS d SET
    record = NULL, result = NULL, erased_by = e.by, reason = coalesce(substring(d.reason FROM '^([a-z_ -]+): '), 'decode') || ': erased by ' || e.by,
    answer = CASE WHEN d.answer IS NOT NULL THEN 'erased by ' || e.by END,
    asked_result = NULL, asked_with_result = d.asked_with_result AND NOT e.asks, asked = CASE WHEN e.asks THEN 'x' ELSE d.asked END, asked_at = CASE WHEN e.asks THEN clock_timestamp() ELSE d.asked_at END,
    asked_by = CASE WHEN e.asks THEN 'the event that erased it, ' || e.by ELSE d.asked_by END, parks = d.parks AND NOT e.own,
    state = CASE WHEN e.ends THEN 'x' ELSE d.state END, resolved_at = CASE WHEN e.ends THEN clock_timestamp() ELSE d.resolved_at END,
    resolved_seq = CASE WHEN e.ends THEN $7 ELSE d.resolved_seq END, resolved_by = CASE WHEN e.ends THEN 'erased by ' || e.by ELSE d.resolved_by END,
    expires_at = CASE WHEN e.ends THEN clock_timestamp() + (d.expires_at - d.created_at) ELSE d.expires_at END
FROM ended e WHERE d.stream = e.stream AND d.offs = e.offs AND d.seq = e.seq`

// Erase erases letters.
var Erase = session.NewStatement("erase_letters", eraseLettersSQL)

// Erased are the parameters that say what is erased: of a consumer, in topics whose names an
// expression matches, by events of a stream.
func Erased(consumer, topics string, stream int32, erased []Erasure) [][]byte {
	var rows wire.Rows
	for i := range erased {
		e := &erased[i]
		if slices.ContainsFunc(erased[i+1:], func(later Erasure) bool { return later.Key == e.Key }) {
			continue // that one takes all with it
		}
		r := rows.Row()
		r.UUID(e.Key)
		r.Int8(e.Offset)
		r.Text(e.By)
	}
	return rows.Seal([][]byte{[]byte(consumer), []byte(topics), ledger.Int4(stream)})
}

// EraseStatement erases letters, with a row of the stream's chain. Of a replay of one letter whole
// is false: which records wait stays as it is.
func EraseStatement(erased [][]byte, seq int64, whole bool) pipeline.Statement {
	batch := []byte{0}
	if whole {
		batch[0] = 1
	}
	return pipeline.Statement{Is: Erase, Args: append(slices.Clone(erased), ledger.Int8(seq), batch)}
}
