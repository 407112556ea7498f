package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkPromiseIsNeeded reports copies_keep_record_key where it proves nothing (E412): no key
// of the topic has copies: same_partition, or all that have contain the record key. Where a
// key was refused it may be needed.
func checkPromiseIsNeeded(report *syntax.Diagnostics, t *draft.Topic) {
	refused := func(e *draft.Event) bool { return e.KeySpec().Broken && !e.Model.Key.Offset }
	if !t.Model.CopiesKeepKey || !t.Complete() || slices.ContainsFunc(t.Events, (*draft.Event).NeedsPromise) || slices.ContainsFunc(t.Events, refused) {
		return
	}
	report.Add(t.Spec.Assume.Get("copies_keep_record_key").Pos, "E412", fmt.Sprintf(`"copies_keep_record_key" has no meaning for topic %s: it proves copies: same_partition for keys that do not contain the record key, and there is no such key`,
		wording.Quote(t.Spec.Name.Value)), insteadOfPromise(t))
}

// insteadOfPromise is what to do about a promise that proves nothing: a key for which it could
// prove something may be meant; else the hint says why there is none.
func insteadOfPromise(t *draft.Topic) string {
	hint := "remove it: no key is stored"
	for _, e := range t.Events {
		switch {
		case e.Model.Key.Offset:
		case !e.LacksRecordKey():
			hint = "remove it: the key contains the record key"
		default:
			return "remove it, or write copies: same_partition in idempotency_key"
		}
	}
	return hint
}
