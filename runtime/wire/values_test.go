package wire

import (
	"math/big"
	"strings"
	"time"
)

var colors = []string{"red", "gr\"een", ""}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// rational returns the value of a number in a form that is the same for equal numbers.
func rational(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok { // or it is zero, with an exponent that Rat does not read
		digits, _, _ := strings.Cut(strings.ToLower(text), "e")
		if r, ok = new(big.Rat).SetString(digits); !ok || r.Sign() != 0 {
			return "no number: " + text
		}
	}
	return r.String()
}
