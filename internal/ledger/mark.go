package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Mark is what an owner commits to Kafka beside the group's offset: the row of the chain that the
// offset is of. Kafka keeps it when the database loses commits. So a chain without that row is one
// that went back in time.
type Mark struct {
	Stream   wire.UUID // id of the chain
	Seq      int64     // the row
	Token    wire.UUID // of the row
	Next     int64     // its position: the offset that is committed, which the text does not repeat
	High     int64     // effects of records below this offset may have been called
	Fence    int64     // the highest fencing token that the process knew; 0 for none
	Consumer string
}

// markFormat is the text of a mark. Another client takes it for a text without meaning.
const markFormat = "idemgen 1 %36s %d %36s %d %d "

// String returns the text for Kafka, which [ReadMark] reads.
func (m Mark) String() string {
	return fmt.Sprintf(markFormat, m.Stream, m.Seq, m.Token, m.High, m.Fence) + m.Consumer
}

// ReadMark reads the metadata of a committed offset. It reports false if no version of idemgen
// that writes this format committed it.
func ReadMark(offset int64, metadata string) (m Mark, ok bool) {
	var stream, token string
	if n, err := fmt.Sscanf(metadata, markFormat, &stream, &m.Seq, &token, &m.High, &m.Fence); n != 5 || err != nil {
		return Mark{}, false
	}
	parts := strings.SplitN(metadata, " ", 8)
	var err error
	if m.Stream, err = wire.ParseUUID(stream); err == nil {
		m.Token, err = wire.ParseUUID(token)
	}
	if err != nil || len(parts) < 8 {
		return Mark{}, false
	}
	m.Next, m.Consumer = offset, parts[7]
	return m, true
}

// knowsSQL reports whether a chain has id $5, and whether it has, or had, a row, whose position is
// $4. A chain whose rows from there on were trimmed had it unless its position was never that far,
// until an operator set it back for the first time since. Of a chain without rows it says yes.
const knowsSQL = `
SELECT EXISTS (SELECT FROM idem_stream WHERE stream = $1 AND id = $5),
    coalesce(EXISTS (SELECT FROM idem_ledger WHERE stream = $1 AND seq = $2 AND token = $3)
    OR $2 < (SELECT min(seq) FROM idem_ledger WHERE stream = $1)
       AND $4 <= coalesce((SELECT prev FROM (SELECT seq, prev FROM idem_ledger WHERE stream = $1 AND seq > $2 AND kind = 'r'
                           UNION ALL SELECT seq, prev FROM idem_operator WHERE stream = $1 AND seq > $2 AND kind = 'r') r
                           ORDER BY seq LIMIT 1),
                          (SELECT next FROM idem_ledger WHERE stream = $1 ORDER BY seq DESC LIMIT 1)), true)`

// Gone reports whether the database lost commits: whether a chain never had the row of the mark. A
// mark of another chain says nothing about that, because an operator began this one.
func (m *Mark) Gone(ctx context.Context, db interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, stream int32) (gone, other bool, err error) {
	var same, knows bool
	err = db.QueryRow(ctx, knowsSQL, stream, m.Seq, m.Token, m.Next, m.Stream).Scan(&same, &knows)
	return err == nil && same && !knows, err == nil && !same, err
}
