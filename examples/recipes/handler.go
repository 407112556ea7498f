package recipes

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Service implements Handler.
type Service struct{}

// Seen makes a row for the first event of a kind, and counts every one.
func (Service) Seen(ctx context.Context, tx idem.Tx, e Seen) error {
	first, err := tx.Exec(ctx, `INSERT INTO firsts (person, kind, seen) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING`, e.Person, e.Kind)
	if err != nil || first.RowsAffected() == 1 {
		return err
	}
	tx.Queue(`UPDATE firsts SET seen = seen + 1 WHERE person = $1 AND kind = $2`, e.Person, e.Kind)
	return nil
}

// Said takes the next number of a person. One owner applies a partition, and a person is the
// record key, so that nobody else takes it.
func (Service) Said(_ context.Context, tx idem.Tx, e Said) error {
	tx.Queue(`INSERT INTO entries (person, number, said)
SELECT $1, coalesce(max(number), 0) + 1, $2 FROM entries WHERE person = $1`, e.Person, e.Text)
	return nil
}

// FileSent unpacks the record's value. What cannot be unpacked now never can.
func (Service) FileSent(_ context.Context, tx idem.Tx, e FileSent) error {
	content, err := unpack(e.Packed)
	if err != nil {
		return idem.Permanent(err)
	}
	tx.Queue(`INSERT INTO files (name, content) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET content = excluded.content`, e.Name, content)
	return nil
}

// most is how many bytes a file may have: the value's own limit says nothing of them.
const most = 8 << 20

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(content) > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	return content, err
}
