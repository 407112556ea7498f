package footprint

import (
	"fmt"
	"strings"
	"testing"
)

// A memo answers what it keeps, and keeps so many texts that are not too long.
func TestWhatAMemoKeeps(t *testing.T) {
	var m Memo
	long := "SELECT " + strings.Repeat("1", longest-len("SELECT "))
	for _, sql := range []string{long, long + "1"} {
		m.Of(sql)
		if _, kept := m.known[sql]; kept != (sql == long) {
			t.Errorf("%d bytes: kept is %v", len(sql), kept)
		}
	}
	m.known["SELECT 1"] = Ends // to see that it is not read again
	if got := m.Of("SELECT 1"); got != Ends {
		t.Errorf("a text that is known: %d", got)
	}
	for n := range mostTexts {
		m.Of(fmt.Sprint("SELECT a", n))
	}
	if len(m.known) != mostTexts {
		t.Errorf("%d texts are kept", len(m.known))
	}
}
