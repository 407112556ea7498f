package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// A map and a list may have a thousand entries each, and no more.
func TestEntriesOfAMapAndOfAList(t *testing.T) {
	for n, refused := range map[int]bool{500: false, 501: false, 1000: false, 1001: true} {
		var pairs, items strings.Builder
		for i := range n {
			fmt.Fprintf(&pairs, "  k%d: v\n", i)
			items.WriteString("  - v\n")
		}
		for what, text := range map[string]string{"map": pairs.String(), "list": items.String()} {
			_, problems := Parse([]byte("all:\n" + text))
			if got := problems.Errors() > 0; got != refused {
				t.Errorf("a %s of %d: refused %v", what, n, got)
			}
		}
	}
}
