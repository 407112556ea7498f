package keys

import (
	"bytes"
	"slices"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Claim claims the shared keys in sorted order: two batches that claim the same keys wait for
// each other in one direction only.
func (k *Known) Claim(claims []wire.Claim) []pipeline.Statement {
	if len(claims) == 0 {
		return nil
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b wire.Claim) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	var rows wire.Rows
	for i := range claims {
		r := rows.Row()
		r.UUID(wire.UUID(claims[i].Key))
		r.Int4(int32(claims[i].Def))
		r.Int4(int32(claims[i].Print))
	}
	args := [][]byte{ledger.Int4(k.open.Number), k.open.Token[:], ledger.Int4(k.place.Stream), ledger.Int8(k.place.Seq)}
	return []pipeline.Statement{{Is: generation.Claim, Args: rows.Seal(args)}}
}

// Release takes back those claims of this transaction that are not in stay; none if all are.
func (k *Known) Release(claims, stay []wire.Claim) []pipeline.Statement {
	kept := with(nil, keysOf(stay))
	released := slices.DeleteFunc(keysOf(claims), func(key wire.Key) bool { return kept[key] })
	if len(released) == 0 {
		return nil
	}
	var rows wire.Rows
	for _, key := range released {
		rows.Row().UUID(wire.UUID(key))
	}
	args := [][]byte{ledger.Int4(k.open.Number), ledger.Int4(k.place.Stream), ledger.Int8(k.place.Seq)}
	return []pipeline.Statement{{SQL: generation.ReleaseSQL, Args: rows.Seal(args)}}
}

// keysOf are the keys of claims.
func keysOf(claims []wire.Claim) []wire.Key {
	var keys []wire.Key
	for i := range claims {
		keys = append(keys, claims[i].Key)
	}
	return keys
}
