package session_test

import (
	"crypto/rand"
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/session"
)

// The name of a prepared statement is that of one text in one session: a statement that a pooler
// sends to another session is refused, whatever is prepared there.
func TestNameOfAStatementIsOfOneTextAndOneSession(t *testing.T) {
	names := map[string]bool{}
	for range 2 {
		s := session.Marked(rand.Text())
		for _, sql := range []string{`INSERT INTO t VALUES (1)`, `INSERT INTO u VALUES (1)`} {
			names[s.Name(session.NewStatement("write", sql))] = true
		}
	}
	if len(names) != 4 {
		t.Errorf("4 statements have the names %v", names)
	}
}
