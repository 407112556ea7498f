package sqlcode

import (
	"regexp"
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

// The name of a constraint is the one that Postgres would make while it fits into 63 bytes. A
// longer one is cut to valid text, keeps its suffix, and differs from others that are cut.
func TestConstraintName(t *testing.T) {
	columns := func(names ...string) (all []*model.Column) {
		for _, name := range names {
			all = append(all, &model.Column{Name: name})
		}
		return all
	}
	if got := constraintName("orders", columns("customer_id", "day"), "fkey"); got != "orders_customer_id_day_fkey" {
		t.Error(got)
	}
	if got := constraintName("orders", []*model.Column{{Name: "day", Stored: "Day"}}, "idx"); got != "orders_Day_idx" {
		t.Error(got)
	}
	for _, letter := range []string{"a", "ü", "漢", "😀", "_"} {
		seen := map[string]bool{}
		for n := range 70 {
			table := "t" + strings.Repeat("x", n%4) + strings.Repeat(letter, n)
			full := table + "_key_fkey"
			got := constraintName(table, columns("key"), "fkey")
			switch {
			case len(full) <= 63 && got != full:
				t.Errorf("%s, which fits, is %s", full, got)
			case len(got) > 63 || len(full) > 63 && letter == "a" && len(got) != 63:
				t.Errorf("%s has %d bytes", got, len(got))
			case seen[got] || strings.ToValidUTF8(got, "") != got || !strings.HasSuffix(got, "_fkey"):
				t.Errorf("%s is used before, no text, or lacks its suffix", got)
			case len(full) > 63 && !regexp.MustCompile(`^t.*[^_]_[0-9a-f]{8}_fkey$|^t_[0-9a-f]{8}_fkey$`).MatchString(got):
				t.Errorf("%s has no hash", got)
			}
			seen[got] = true
		}
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
