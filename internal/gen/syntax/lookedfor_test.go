package syntax

import (
	"regexp"
	"slices"
	"testing"
)

var keyInHint = regexp.MustCompile(`([a-z_]+): `)

// The hint for a key that people look for names keys that are built, and no such key is one of
// the language's own.
func TestKeysThatAreLookedForLeadToBuiltOnes(t *testing.T) {
	built := map[string]bool{}
	var collect func(ks []keyShape)
	collect = func(ks []keyShape) {
		for _, k := range ks {
			built[k.name] = true
			for s := &k.shape; s != nil; {
				collect(s.keys)
				if s.entries != nil {
					s = s.entries
				} else {
					s = s.items
				}
			}
		}
	}
	collect(specKeys.shapes())
	for key, hint := range lookedFor {
		if fold(key) != key {
			t.Errorf("%s is never found: it is written %s", key, fold(key))
		}
		for _, m := range keyInHint.FindAllStringSubmatch(hint, -1) {
			if word := m[1]; !built[word] && !slices.Contains([]string{"order_id", "topic", "out", "order"}, word) {
				t.Errorf("%s: %q names %s, which is no key", key, hint, word)
			}
		}
	}
	for word, verb := range verbsLookedFor {
		if keysOfVerb(verb) == nil || keysOfVerb(word) != nil {
			t.Errorf("%s leads to %s", word, verb)
		}
	}
}
