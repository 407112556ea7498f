package main

import (
	"slices"
	"testing"
)

// All fuzz tests of the module are found, also behind folders that are passed over.
func TestFuzzTestsAreFound(t *testing.T) {
	found, err := targets("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"../../internal/gen/syntax", "../../runtime/wire/strictjson"} {
		if !slices.ContainsFunc(found, func(f target) bool { return f.folder == want }) {
			t.Errorf("no fuzz test of %s in %v", want, found)
		}
	}
}
