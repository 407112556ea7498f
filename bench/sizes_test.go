package main

import (
	"strings"
	"testing"
)

// What docs/scaling.md says of sizes can be measured.
func TestSizesAreMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Chdir("..")
	var out strings.Builder
	if err := measureSizes(t.Context(), &out, nil, 20, []int64{20_000}, ""); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	for _, want := range []string{"anywhere.v1 1 a transaction: tables", "filter built in", "emptied in", "the upkeep removed", "behind a checkpoint"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
}
