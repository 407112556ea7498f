package seeds_test

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/internal/seeds"
)

// A list may come from a file or be written with blanks.
func TestAddressesOfAList(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", " ,\n": "[]", "a:9092": `["a:9092"]`, "a:9092, b:9093": `["a:9092" "b:9093"]`, " a:9092\n": `["a:9092"]`, "a:9092,": `["a:9092"]`, "a:9092 ,\tb": `["a:9092" "b"]`,
	} {
		if got := fmt.Sprintf("%q", seeds.Of(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
