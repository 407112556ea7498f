package operate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Holder is where a key stands: the row of a ledger whose transaction applied its event.
type Holder struct {
	Consumer  string `json:"consumer"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Seq       int64  `json:"seq"`
	Known     bool   `json:"known"` // inside the window: a copy that comes now is a duplicate
	Row       *Row   `json:"row"`   // nil if the row was removed since
}

// String says where the key is.
func (h *Holder) String() string {
	if h.Row == nil {
		return fmt.Sprintf("ledger row %d of %s/%d applied it; the row was removed since", h.Seq, h.Topic, h.Partition)
	}
	r, how := h.Row, h.Row.Span()
	return fmt.Sprintf("ledger row %d of %s/%d applied it: %s, at %s, in transaction %s",
		r.Seq, r.Topic, r.Partition, how, r.WrittenAt.Format(time.RFC3339), r.Transaction)
}

const (
	sharedKeySQL = `
SELECT s.consumer, s.topic, s.partition, k.stream, k.seq
FROM idem_keys k JOIN idem_stream s USING (stream)
WHERE k.key = $2::uuid AND s.consumer = $1`

	// chainKeySQL reads the keys of all rows of a ledger, the newest first, and stops at the first
	// one that holds the key.
	chainKeySQL = `
SELECT seq, keys, seq >= (SELECT window_seq FROM idem_ledger t WHERE t.stream = $1::int ORDER BY t.seq DESC LIMIT 1)
FROM idem_ledger WHERE stream = $1::int AND seq < $3::bigint AND keys IS NOT NULL AND position($2::bytea IN keys) > 0
ORDER BY seq DESC LIMIT 1`
)

// has reports whether the database has a table of the runtime: not every service needs each.
func has(ctx context.Context, db DB, table string) (is bool, err error) {
	err = db.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, pgx.QueryExecModeExec, table).Scan(&is)
	return is, Explain(err)
}

// inShared finds a key among those that all partitions of a consumer share; nil if it is not
// there.
func inShared(ctx context.Context, db DB, consumer string, key [16]byte) (*Holder, error) {
	if ok, err := has(ctx, db, "idem_keys"); err != nil || !ok {
		return nil, err
	}
	h := Holder{Known: true}
	var id int32
	err := db.QueryRow(ctx, sharedKeySQL, pgx.QueryExecModeExec, consumer, hex.EncodeToString(key[:])).Scan(&h.Consumer, &h.Topic, &h.Partition, &id, &h.Seq)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, Explain(err)
	}
	return &h, h.read(ctx, db, id)
}

// inChain finds a key in the rows of a ledger before one of them; nil if it is not there. It
// reads every row with keys from there back.
func inChain(ctx context.Context, db DB, of *Status, key [16]byte, before int64) (*Holder, error) {
	for {
		h := Holder{Consumer: of.Consumer, Topic: of.Topic, Partition: of.Partition}
		var keys []byte
		err := db.QueryRow(ctx, chainKeySQL, pgx.QueryExecModeExec, of.Stream, key[:], before).Scan(&h.Seq, &keys, &h.Known)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, Explain(err)
		}
		if holds(keys, key) {
			return &h, h.read(ctx, db, of.Stream)
		}
		before = h.Seq // the bytes stood across two keys
	}
}

// holds reports whether one of a row's keys is the key.
func holds(keys []byte, key [16]byte) bool {
	for entry := range slices.Chunk(keys, ledger.KeyBytes) {
		if bytes.HasPrefix(entry, key[:]) {
			return true
		}
	}
	return false
}

// read reads the holder's row, if it is still there.
func (h *Holder) read(ctx context.Context, db DB, id int32) error {
	rows, err := readRows(ctx, db, rowSQL, id, h.Seq)
	if len(rows) > 0 {
		h.Row = &rows[0]
	}
	return err
}

// firstCopy finds the row that holds the key of a conflict: among the keys that partitions share,
// else in the letter's own ledger.
func firstCopy(ctx context.Context, db DB, o *Opened, of *Status) (*Holder, error) {
	key, err := parseKey(o.Key)
	if err != nil {
		return nil, err
	}
	h, err := inShared(ctx, db, o.Consumer, key)
	if h != nil || err != nil {
		return h, err
	}
	return inChain(ctx, db, of, key, o.Seq+1)
}

// parseKey reads 32 hexadecimal digits.
func parseKey(text string) (key [16]byte, err error) {
	if n, err := hex.Decode(key[:], []byte(text)); err != nil || n != len(key) {
		return key, fmt.Errorf("%q is no key: it has 32 hexadecimal digits", text)
	}
	return key, nil
}
