package randspec

import (
	"strings"
	"testing"
)

// In some dozen specs every verb and most other keys are used, and each spec has a twin of the
// same number.
func TestSpecsUseEveryVerb(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	var all strings.Builder
	for seed := range uint64(160) {
		text := New(seed).String()
		if seed < 3 && text != New(seed).String() {
			t.Fatalf("number %d makes two specs:\n%s\n%s", seed, text, New(seed))
		}
		all.WriteString(text)
	}
	keys := []string{
		"each:", "patch: true", "tombstone: true", "external: true", "schema:", "naming:",
		"root:", "encoding:", "absent_marker:", "/v2", "map(", "header: h-", "if_missing: insert",
		"copies: same_partition", "compare:", "foreign_keys:", "by:", "many:", "keep:",
		"effect:", "if_interrupted: retry", "if_interrupted: dead_letter", "result: Answer", "lock: {", ": result.", "park: record_key",
		"handle: true", "lock: {",
	}
	for _, verb := range verbs {
		keys = append(keys, "- "+verb+": ")
	}
	for _, key := range keys {
		if !strings.Contains(all.String(), key) {
			t.Errorf("no spec has %s", key)
		}
	}
}

// What is made smaller is shorter, and still a spec that idemgen accepts.
func TestSmallerSpecsAreAccepted(t *testing.T) {
	spec, count := New(1), 0
	for smaller := range spec.Smaller() {
		if smaller.root.count() >= spec.root.count() {
			t.Errorf("not smaller:\n%s", smaller)
		}
		if len(smaller.refused()) > 0 {
			t.Errorf("refused:\n%s", smaller)
		}
		if count++; count == 20 {
			return
		}
	}
	t.Errorf("only %d are smaller", count)
}
