package randspec

import (
	"strings"
	"testing"
)

// In a few dozen specs every verb is used, and each spec has a twin of the same number.
func TestSpecsUseEveryVerb(t *testing.T) {
	used := map[string]bool{}
	for seed := range uint64(60) {
		text := New(seed).String()
		if again := New(seed).String(); text != again {
			t.Fatalf("number %d makes two specs:\n%s\n%s", seed, text, again)
		}
		for _, verb := range verbs {
			used[verb] = used[verb] || strings.Contains(text, "- "+verb+": ")
		}
	}
	for _, verb := range verbs {
		if !used[verb] {
			t.Errorf("no spec has a step of verb %s", verb)
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
