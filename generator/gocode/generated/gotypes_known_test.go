package generated_test

import (
	"testing"

	"github.com/shopspring/decimal"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/testdata/golden/accepted/catalog/prices"
)

// A field may be of a type of another module, as handlers want it: here a well-known decimal.
func TestFieldsMayBeOfTypesOfOtherModules(t *testing.T) {
	e, err := catalogprices.DecodePriceChanged(idem.Message{
		Key: []byte("sku-1"), Value: []byte(`{"price":12.50,"changed_at":"2026-01-31T12:00:00Z"}`),
	})
	if err != nil || !e.Price.Equal(decimal.RequireFromString("12.5")) {
		t.Errorf("%v, %v", e.Price, err)
	}
}
