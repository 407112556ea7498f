package operate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// AdoptedKeys counts keys that were made known.
type AdoptedKeys struct {
	Keys  int64 `json:"keys"`  // that were read
	Added int64 `json:"added"` // of them: that were not known in the open generation
}

const (
	// openKeysSQL opens a generation of keys, if none is open.
	openKeysSQL = `SELECT idem_keys_open($1::text, $2::interval) WHERE NOT EXISTS (SELECT FROM idem_key_gen WHERE consumer = $1::text AND sealed_at IS NULL)`

	// adoptSQL claims keys in the open generation, as a batch does, but for no row of a ledger. No
	// content has definition 0, so what is stored is never compared: every event with the key is a
	// duplicate.
	adoptSQL = `
INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT (SELECT gen FROM idem_key_gen WHERE consumer = $1::text AND sealed_at IS NULL), k, 0, 0, 0, 0 FROM unnest($2::text[]::uuid[]) AS u (k)
ON CONFLICT DO NOTHING`
)

// adoptAtOnce is how many keys a transaction makes known.
const adoptAtOnce = 10_000

// AdoptKeys makes keys known to a consumer that another program has applied: events with them are
// duplicates from then on, whatever their content is, for at least as long as keys are kept. Keys
// that are known already stay as they are, so after an error it can be run again. keep is how long
// keys are kept if this is the consumer's first generation. progress is called after each
// transaction; nil means never.
func AdoptKeys(ctx context.Context, db DB, consumer string, keep time.Duration, keys iter.Seq2[[16]byte, error], progress func(AdoptedKeys)) (a AdoptedKeys, err error) {
	if ok, err := has(ctx, db, "idem_keys"); err != nil || !ok {
		return a, errors.Join(err, errors.New("this database has no table idem_keys: apply the migrations of the service first"))
	}
	if _, err := alter(ctx, db, openKeysSQL, consumer, fmt.Sprintf("%d seconds", int64(keep.Seconds()))); err != nil {
		return a, err
	}
	var some [][16]byte
	flush := func() error {
		slices.SortFunc(some, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }) // as batches do
		unique := slices.Compact(slices.Clone(some))
		n, err := adoptSome(ctx, db, consumer, unique)
		a.Keys, a.Added, some = a.Keys+int64(len(some)), a.Added+n, some[:0]
		if err == nil && progress != nil {
			progress(a)
		}
		return err
	}
	for key, err := range keys {
		if err != nil {
			return a, err
		}
		if some = append(some, key); len(some) == adoptAtOnce {
			if err := flush(); err != nil {
				return a, err
			}
		}
	}
	if len(some) > 0 {
		err = flush()
	}
	return a, err
}

// adoptSome makes some keys known. A generation may be sealed meanwhile: then they go to the next.
func adoptSome(ctx context.Context, db DB, consumer string, keys [][16]byte) (n int64, err error) {
	texts := make([]string, len(keys))
	for i := range keys {
		texts[i] = hex.EncodeToString(keys[i][:])
	}
	for range 5 {
		n, err = alter(ctx, db, adoptSQL, consumer, texts)
		if pg, is := errors.AsType[*pgconn.PgError](err); !is || pg.Code != "23514" {
			return n, err
		}
	}
	return n, fmt.Errorf("the generation of keys was sealed during every attempt: %w", err)
}
