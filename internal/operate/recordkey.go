package operate

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// inHex begins the name of a record key that is written as hexadecimal digits.
const inHex = "hex:"

// KeyName returns the name of a record key, by which people select its letters: its text if it can
// be typed as it is, else "hex:" and its bytes.
func KeyName(key []byte) string {
	text := string(key)
	if text == "" || !printable(text) || strings.HasPrefix(text, inHex) || text != strings.Join(strings.Fields(text), " ") {
		return inHex + hex.EncodeToString(key)
	}
	return text
}

// orderKey returns the hash of the record key that has a name. Every text is the name of itself,
// unless it begins with "hex:".
func orderKey(name string) (wire.UUID, error) {
	digits, ok := strings.CutPrefix(name, inHex)
	if !ok {
		return record.OrderKey([]byte(name)), nil
	}
	key, err := hex.DecodeString(digits)
	if err != nil {
		return wire.UUID{}, fmt.Errorf("record key: want two hexadecimal digits for each byte after hex: %w", err)
	}
	return record.OrderKey(key), nil
}
