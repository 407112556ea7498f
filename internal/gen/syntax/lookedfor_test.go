package syntax

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var keyInHint = regexp.MustCompile(`([a-z_]+): `)

// The hint for a key that people look for names keys that are built, and no such key is one of
// the language's own.
func TestKeysThatAreLookedForLeadToBuiltOnes(t *testing.T) {
	built := map[string]bool{}
	claimed := map[string]string{}
	claim := func(of string, l looked) {
		if (l.also == "") != (l.write == "") {
			t.Errorf("%s: words without what to write, or the reverse", of)
		}
		for word := range strings.FieldsSeq(l.also) {
			if other, twice := claimed[word]; twice && other != l.write {
				t.Errorf("%s leads to %q and %q", word, other, l.write)
			}
			claimed[word] = l.write
		}
	}
	for _, l := range withoutKey {
		claim("no key", l)
	}
	Language().Each(func(s Section) {
		for _, k := range s.Keys {
			built[k.Name] = true
			claim(k.Name+" of "+s.Of, k.looked)
		}
	})
	if len(claimed) != len(lookedFor) || len(claimed) < 100 {
		t.Errorf("%d words of tables, %d are looked up", len(claimed), len(lookedFor))
	}
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
	for _, verb := range stepTables {
		for _, word := range verb.also {
			if keysOfVerb(word) != nil || fold(word) != word {
				t.Errorf("%s leads to %s", word, verb.verb)
			}
		}
	}
}
