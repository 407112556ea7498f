package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/schema"
)

// checkPromiseIsNeeded reports copies_keep_record_key where it proves nothing (E412): no key
// of the topic has copies: same_partition, or all that have contain the record key. Where a
// key was refused it may be needed.
func checkPromiseIsNeeded(report *schema.Diagnostics, t *topic) {
	refused := func(e *event) bool { return e.keySpec().Broken && !e.model.Key.Offset }
	if !t.model.CopiesKeepKey || !t.complete() || slices.ContainsFunc(t.events, (*event).needsPromise) || slices.ContainsFunc(t.events, refused) {
		return
	}
	report.Add(t.spec.Assume.CopiesKeepKey.Key, "E412", fmt.Sprintf(`"copies_keep_record_key" has no meaning for topic %s: it proves copies: same_partition for keys that do not contain the record key, and there is none`,
		quote(t.spec.Name.Value)), insteadOfPromise(t))
}

// insteadOfPromise is what to do about a promise that proves nothing: a key for which it could
// prove something may be meant; else the hint says why there is none.
func insteadOfPromise(t *topic) string {
	hint := "drop it: no key is stored"
	for _, e := range t.events {
		switch {
		case e.model.Key.Offset:
		case !e.lacksRecordKey():
			hint = "drop it: the key holds the record key"
		case reach(e.keySpec()) == 1:
			hint = "drop it: unique_per: consumer needs copies: anywhere"
		default:
			return "drop it, or say copies: same_partition in idempotency_key"
		}
	}
	return hint
}
