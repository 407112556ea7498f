package sqlcode

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// TestIdent: names are quoted exactly where Postgres itself would quote them.
func TestIdent(t *testing.T) {
	db := idemtest.DB(t)
	words := []string{"order_id", "a1", "_x", "1a", "Order", "bestellt_für", `with"quote`, "a b", "n", "value", "name", "status"}
	res, err := db.Query(t.Context(), "SELECT word FROM pg_get_keywords()")
	if err != nil {
		t.Fatal(err)
	}
	for res.Next() {
		var w string
		if err := res.Scan(&w); err != nil {
			t.Fatal(err)
		}
		words = append(words, w)
	}
	if err := res.Err(); err != nil {
		t.Fatal(err)
	}
	if len(words) < 400 {
		t.Fatalf("only %d keywords", len(words))
	}
	later := map[string]bool{} // keywords of other versions than this server's
	for w := range keywords {
		later[w] = true
	}
	for _, w := range words {
		var want string
		if err := db.QueryRow(t.Context(), "SELECT quote_ident($1)", w).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if got := ident(w); got != want && !(later[w] && got == `"`+want+`"`) {
			t.Errorf("ident(%s) = %s, Postgres says %s", w, got, want)
		}
	}
}

// TestConstraintName: names stay within Postgres' limit and differ if their tables do.
func TestConstraintName(t *testing.T) {
	long := strings.Repeat("a", 41)
	column := func(name string) []*model.Column { return []*model.Column{{Name: name}} }
	if got := constraintName("orders", column("customer_id"), "fkey"); got != "orders_customer_id_fkey" {
		t.Error(got)
	}
	a, b := constraintName(long, column(long+"1"), "idx"), constraintName(long, column(long+"2"), "idx")
	if len(a) > 63 || len(b) > 63 || a == b || !strings.HasSuffix(a, "_idx") {
		t.Errorf("%q (%d bytes) and %q (%d bytes)", a, len(a), b, len(b))
	}
}

// A text constant reads the same for Postgres, Go, git and people.
func TestTextConstantsHideNothing(t *testing.T) {
	for text, want := range map[string]string{
		"it's":            `'it''s'`,
		"two\nlines":      `E'two\nlines'`,
		`C:\temp`:         `E'C:\\temp'`,
		"a\rb":            `E'a\u000Db'`,
		"\ufeffx\u2028":   `E'\uFEFFx\u2028'`,
		"'\U000e0041'":    `E'''\U000E0041'''`,
		"größe 1 < 2 -- ": `'größe 1 < 2 -- '`,
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}
