package resolve

import (
	"fmt"
	"strings"
	"testing"
)

// TestTooManyMembers: the decoder keeps 256 members of an object apart.
func TestTooManyMembers(t *testing.T) {
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "f%d: string, ", i)
		}
		return strings.TrimSuffix(b.String(), ", ")
	}
	spec := func(inType, inEvent int) []byte {
		return []byte(fmt.Sprintf("version: 1\nconsumer: c\npackage: c\ntypes:\n  T: {fields: {%s}}\ntopics:\n  t:\n    idempotency_key: {source: {header: k}, window: 1d}\n    events:\n      E: {fields: {t: T, %s}, handle: true}\n",
			fields(inType), fields(inEvent)))
	}
	if out := printed(t, "s", spec(256, 255)); out != "" {
		t.Errorf("refused:\n%s", out)
	}
	for _, c := range []struct {
		inType, inEvent int
		want            string
	}{
		{257, 1, `s:5:3: E708: type "T" reads 257 members, but one object may have at most 256`},
		{1, 256, `s:10:7: E708: event "E" reads 257 members, but one object may have at most 256`},
	} {
		out := printed(t, "s", spec(c.inType, c.inEvent))
		if !strings.HasPrefix(out, c.want+"\n") || !strings.HasSuffix(out, "1 problem found; nothing was written\n") {
			t.Errorf("got\n%s", out)
		}
	}
}
