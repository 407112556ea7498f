package operate

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/record"
)

// refused returns the letter of a key's event; nil if there is none. A letter claims no key, and
// contains one only for a conflict or an effect. Other letters are found by their record, which
// contains the values of the key's parts. If letters were not read, unread says so.
func refused(ctx context.Context, db DB, streams []int32, key record.EventKey) (l *Letter, unread string, err error) {
	if l, err = held(ctx, db, streams, key); err != nil || l != nil {
		return l, "", err
	}
	l, read, all, err := search(ctx, db, streams, key)
	if !all {
		unread = fmt.Sprintf("; it may be an older dead letter: only the newest %d were searched (idemgen find --partition searches one partition)", read)
	}
	return l, unread, err
}

// refused makes a letter the answer.
func (a *Answer) refused(l *Letter) {
	a.Letter, a.Verdict, a.Key = l, verdictOf[l.State], l.Key
	a.Because = fmt.Sprintf("the record at offset %d of %s/%d, which ledger row %d passed at %s, has this key: %s",
		l.Offset, l.Topic, l.Partition, l.Seq, l.CreatedAt.Format(time.RFC3339), l.Class)
	if r := l.Request; r != nil && r.Answer != "" {
		a.Because += "; the last answer to a request: " + r.Answer
	}
}

// held returns the letter that an index finds: by the key, or by a part of the key that is the
// record key.
func held(ctx context.Context, db DB, streams []int32, key record.EventKey) (*Letter, error) {
	hash, orders := hex.EncodeToString(key.Hash[:]), []string{}
	for _, text := range key.Fields {
		order := record.OrderKey([]byte(text))
		orders = append(orders, hex.EncodeToString(order[:]))
	}
	all, err := letters(ctx, db, heldSQL, streams, hash, orders)
	for i := range all {
		l := &all[i]
		if l.Event != "" && l.Event != key.Event || l.Key != "" && l.Key != hash {
			continue
		}
		if l.Key == hash {
			return l, nil
		}
		stored, err := l.Stored(ctx, db)
		if err != nil {
			return nil, err
		}
		if holdsParts(stored.Record, key) {
			return l, nil
		}
	}
	return nil, err
}

// searchSQL reads the newest letters of each stream before a place. It selects those whose record
// may have a key, with the record, and the last one of each stream, with the number of those read.
const searchSQL = `
SELECT l.stream, l.offs, l.seq, l.open, l.created_at, l.record, l.n, l.n = l.share
FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS s (stream, offs, seq), LATERAL (
    SELECT *, row_number() OVER (ORDER BY offs DESC, seq DESC) AS n, count(*) OVER () AS share FROM (
        SELECT d.stream, d.offs, d.seq, d.state IN ('d', 'w') AS open, d.created_at,
            CASE WHEN d.key IS NULL AND coalesce(d.event, $4::text) = $4::text AND d.record LIKE ALL ($5::bytea[]) THEN d.record END AS record
        FROM idem_dead_letter d WHERE d.stream = s.stream AND (d.offs, d.seq) < (s.offs, s.seq)
        ORDER BY d.offs DESC, d.seq DESC LIMIT $6::int) d) l
WHERE l.record IS NOT NULL OR l.n = l.share`

// searchAtOnce is how many letters a search reads at a time.
const searchAtOnce = 5000

// searchTime is how long a search reads further letters; tests change it.
var searchTime = 500 * time.Millisecond

// search returns the letter whose record contains the parts of a key: the newest open one, or else
// the newest closed one. It reads the letters of each stream, the newest first, until it has an
// open one or searchTime is over. read is how many it has read; all means that none are left.
func search(ctx context.Context, db DB, streams []int32, key record.EventKey) (best *Letter, read int, all bool, err error) {
	type candidate struct {
		Letter
		open, is, last bool
		n              int // of those read of its stream
	}
	var values [][]byte
	for _, parts := range []map[string]string{key.Headers, key.Fields} {
		for _, text := range parts {
			values = append(values, []byte("%"+literal(text)+"%"))
		}
	}
	ends := make([]Letter, len(streams)) // of the streams with further letters: the last that was read
	for i, stream := range streams {
		ends[i] = Letter{Place: Place{Offset: math.MaxInt64}, Seq: math.MaxInt64, stream: stream}
	}
	open := false
	for start := time.Now(); len(ends) > 0 && !open && (read == 0 || time.Since(start) < searchTime); {
		share := max(20, searchAtOnce/len(ends))
		some, err := query(ctx, db, func(row pgx.CollectableRow) (c candidate, err error) {
			var stored []byte
			err = row.Scan(&c.stream, &c.Offset, &c.Seq, &c.open, &c.CreatedAt, &stored, &c.n, &c.last)
			c.is = stored != nil && holdsParts(stored, key)
			return c, err
		}, searchSQL, append(places(ends), key.Event, values, share)...)
		if err != nil {
			return nil, read, false, err
		}
		ends = ends[:0]
		for i := range some {
			c := &some[i]
			if c.last {
				read += c.n
			}
			if c.n == share {
				ends = append(ends, c.Letter)
			}
			if c.is && (best == nil || c.open && !open || c.open == open && c.CreatedAt.After(best.CreatedAt)) {
				best, open = &c.Letter, c.open
			}
		}
	}
	if best == nil {
		return nil, read, len(ends) == 0, nil
	}
	found, err := letters(ctx, db, theseSQL, places([]Letter{*best})...)
	if err != nil || len(found) == 0 { // it was removed meanwhile
		return nil, read, false, err
	}
	return &found[0], read, true, nil
}

// holdsParts reports whether a stored record contains the values of the key's parts. It looks for
// a field in the record key, among the values of a JSON payload, and in the bytes of any other
// payload.
func holdsParts(stored []byte, key record.EventKey) bool {
	m, err := record.Parse(stored)
	if err != nil {
		return false
	}
	for name, text := range key.Headers {
		if value, err := m.Header(name); err != nil || string(value) != text {
			return false
		}
	}
	for _, text := range key.Fields {
		if !holdsText(m.Key, text) && !holdsText(m.Value, text) {
			return false
		}
	}
	return true
}

// holdsText reports whether a document contains a text, as one of its values if it is JSON.
func holdsText(document []byte, text string) bool {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF:
			return false
		case err != nil:
			return bytes.Contains(document, []byte(text))
		case fmt.Sprint(token) == text:
			return true
		}
	}
}
