package outbox_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A user may add a column of any name: none is mistaken for a name in the statements of the relay
// or of triggers.
func TestColumnsOfAnyName(t *testing.T) {
	t.Parallel()
	db, to := letterTables(t), &log{}
	names := []string{"before it", "ID", "idem_outbox"}
	for _, file := range []string{"store.go", "tenure.go", "write.go", "dead_letters.sql"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".sql") {
			source = []byte("`" + string(source) + "`")
		}
		for _, statement := range regexp.MustCompile("(?s)`[^`]*(?:SELECT|DELETE|INSERT)[^`]*`").FindAllString(string(source), -1) {
			names = append(names, regexp.MustCompile(`[a-z_]+`).FindAllString(strings.ToLower(statement), -1)...)
		}
	}
	for _, name := range names {
		idemtest.Exec(t, db, fmt.Sprintf(`ALTER TABLE idem_outbox ADD COLUMN IF NOT EXISTS %s text`, pgx.Identifier{name}.Sanitize()))
	}
	r, _ := relay(t, db, to, nil)
	write(t, db, "7", "1", "2")
	s := newShop(t, db, "shop", policy)
	s.take(t, "7/3", "7/4")
	s.ask(t, db, "discard", 0)
	want(t, "the discarded letter", query(t, db, `SELECT state::text FROM idem_dead_letter WHERE offs = 0`), "x")
	// Events and letters are two aggregates: neither waits for the other.
	until(t, "all is sent", func() bool {
		sent := to.of("7")
		return strings.Contains(sent, "2") && strings.Contains(sent, "4") && left(t, db) == "0" && r.Health() == nil
	})
}
