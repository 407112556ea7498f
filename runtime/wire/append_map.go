package wire

import (
	"maps"
	"slices"
)

// AppendMap appends m as a JSON object, in the order of its names, with put for each value. Equal
// contents yield equal texts.
func AppendMap[T any](b []byte, m map[string]T, put func([]byte, T) []byte) []byte {
	var few [16]string
	names := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, name), ':')
		b = put(b, m[name])
	}
	return append(b, '}')
}
