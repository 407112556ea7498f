// Package money holds Go types that a spec names.
package money

import (
	"fmt"
	"math/big"
	"time"
)

// ID is a UUID, as other packages than idem's declare it.
type ID [16]byte

// Moment is a time.
type Moment time.Time

// Amount is a number that is not negative. It keeps no zeros behind it: 1.50 is 3/2.
type Amount struct{ ratio big.Rat }

// UnmarshalText reads a decimal number.
func (a *Amount) UnmarshalText(text []byte) error {
	if _, ok := a.ratio.SetString(string(text)); !ok || a.ratio.Sign() < 0 {
		return fmt.Errorf("%q is no amount", text)
	}
	return nil
}

// String is the amount as a fraction.
func (a *Amount) String() string { return a.ratio.RatString() }
