package keyset

import (
	"encoding/binary"
	"slices"
)

// GroupBytes is the size of a group in the chain: the definition of the content of its keys,
// and how many they are, in big endian.
const GroupBytes = 8

// group is consecutive keys of a row whose content has one definition.
type group struct{ def, keys uint32 }

// groupsOf are the groups of a row. Keys in none of its groups get definition 0, which no content
// has: they are known, and their content is not compared.
func groupsOf(r Row) (all []group) {
	left := uint32(len(r.Keys) / EntryBytes)
	for b := r.Defs; len(b) >= GroupBytes && left > 0; b = b[GroupBytes:] {
		g := group{binary.BigEndian.Uint32(b), min(left, binary.BigEndian.Uint32(b[4:]))}
		left -= g.keys
		all = append(all, g)
	}
	if left > 0 {
		all = append(all, group{0, left})
	}
	return all
}

// mixed reports whether groups have another definition than the ones that there are.
func mixed(defs []uint32, groups []group) bool {
	for _, g := range groups {
		switch {
		case len(defs) == 0:
			defs = []uint32{g.def}
		case len(defs) > 1 || !slices.Contains(defs, g.def):
			return true
		}
	}
	return len(defs) > 1
}
