package ledger

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/idemgen/idemgen/runtime/wire"
)

// KeyBytes is the size of a key with its fingerprint in a row.
const KeyBytes = 20

// Split takes the claims apart: shared are those that go into idem_keys. The others go into
// the row of the chain: their keys, in groups whose content has one definition, and defs, the
// definition of each group and how many its keys are.
func Split(claims []wire.Claim) (shared []wire.Claim, keys, defs []byte) {
	var here []wire.Claim
	for i := range claims {
		if claims[i].Here {
			here = slices.Grow(here, len(claims)-i)
			break
		}
	}
	if here == nil {
		return claims, nil, nil
	}
	for _, c := range claims {
		if c.Here {
			here = append(here, c)
		} else {
			shared = append(shared, c)
		}
	}
	slices.SortStableFunc(here, func(a, b wire.Claim) int { return cmp.Compare(a.Def, b.Def) })
	keys = make([]byte, 0, len(here)*KeyBytes)
	for from, i := 0, 0; i < len(here); i++ {
		keys = append(keys, here[i].Key[:]...)
		keys = binary.BigEndian.AppendUint32(keys, here[i].Print)
		if i+1 == len(here) || here[i+1].Def != here[i].Def {
			defs = binary.BigEndian.AppendUint32(defs, here[i].Def)
			defs = binary.BigEndian.AppendUint32(defs, uint32(i+1-from))
			from = i + 1
		}
	}
	return shared, keys, defs
}
