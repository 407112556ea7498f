package resolve

import "testing"

// TestNamesAreSpelledByTheNaming: words begin at "_", and a digit is a letter of its word.
func TestNamesAreSpelledByTheNaming(t *testing.T) {
	for _, c := range [][5]string{
		// name, snake_case, camelCase, PascalCase, kebab-case
		{"id", "id", "id", "Id", "id"},
		{"order_id", "order_id", "orderId", "OrderId", "order-id"},
		{"line_2_no", "line_2_no", "line2No", "Line2No", "line-2-no"},
		{"a__b_", "a__b_", "aB", "AB", "a--b-"},
		{"x2y", "x2y", "x2y", "X2y", "x2y"},
	} {
		for i, naming := range []string{"snake_case", "camelCase", "PascalCase", "kebab-case"} {
			if got := spell(c[0], naming); got != c[i+1] {
				t.Errorf("%s in %s is %q, not %q", c[0], naming, got, c[i+1])
			}
		}
	}
}
