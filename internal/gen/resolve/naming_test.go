package resolve

import "testing"

// TestNamesAreSpelledByTheNaming: words begin at "_", and a digit is a letter of its word.
func TestNamesAreSpelledByTheNaming(t *testing.T) {
	for _, c := range [][3]string{
		// name, snake_case, camelCase
		{"id", "id", "id"},
		{"order_id", "order_id", "orderId"},
		{"line_2_no", "line_2_no", "line2No"},
		{"a__b_", "a__b_", "aB"},
		{"x2y", "x2y", "x2y"},
	} {
		for i, naming := range []string{"snake_case", "camelCase"} {
			if got := spell(c[0], naming); got != c[i+1] {
				t.Errorf("%s in %s is %q, not %q", c[0], naming, got, c[i+1])
			}
		}
	}
}
