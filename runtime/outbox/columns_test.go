package outbox_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A user may add a column of any name: none is mistaken for a name in the relay's statements.
func TestColumnsOfAnyName(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	names := []string{"before it", "ID", "idem_outbox"}
	for _, file := range []string{"store.go", "duty.go", "write.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range regexp.MustCompile("(?s)`[^`]*(?:SELECT|DELETE|INSERT)[^`]*`").FindAllString(string(source), -1) {
			names = append(names, regexp.MustCompile(`[a-z_]+`).FindAllString(statement, -1)...)
		}
	}
	for _, name := range names {
		idemtest.Exec(t, db, fmt.Sprintf(`ALTER TABLE idem_outbox ADD COLUMN IF NOT EXISTS %s text`, pgx.Identifier{name}.Sanitize()))
	}
	r, _ := relay(t, db, to, nil)
	write(t, db, "7", "1", "2")
	until(t, "all is sent", func() bool { return to.of("7") == "1 2" && left(t, db) == "0" && r.Health() == nil })
}
