package idemtest

import (
	"slices"
	"strings"
	"testing"
)

// Of a file for goose the statements upwards are sent, each where the file has it: together in
// a transaction, or one by one if the file says that there is none.
func TestFilesForGooseAreSentUpwards(t *testing.T) {
	const down = "-- +goose Down\nDROP TABLE a;\n"
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"a transaction", "-- x\n-- +goose Up\nCREATE TABLE a ();\nSELECT 1;\n" + down,
			[]string{"BEGIN;\n\nCREATE TABLE a ();\nSELECT 1;\n\n\n;COMMIT;"}},
		{"one by one", "-- +goose NO TRANSACTION\n-- +goose Up\nSELECT 1,\n  2; -- it\nSELECT 3;\n" + down,
			[]string{"\n\nSELECT 1,\n  2; -- it\n", "\n\n\n\nSELECT 3;\n"}},
		{"a statement with others inside", "-- +goose no transaction\n-- +goose up\n-- +goose StatementBegin\nDO $$ BEGIN\nNULL;\nEND $$;\n-- +goose StatementEnd\nSELECT 1;\n",
			[]string{"\n\n\nDO $$ BEGIN\nNULL;\nEND $$;\n\n", "\n\n\n\n\n\n\nSELECT 1;\n"}},
	} {
		got, ok := gooseUp(tc.text)
		for i := range got { // what follows the last statement does not matter
			if len(got) > 1 {
				got[i] = strings.TrimRight(got[i], "\n") + "\n"
				tc.want[i] = strings.TrimRight(tc.want[i], "\n") + "\n"
			}
		}
		if !ok || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %t, %q\nwant %q", tc.name, ok, got, tc.want)
		}
	}
	if _, ok := gooseUp("SELECT 1; -- +goose Up\n"); ok {
		t.Error("plain SQL is taken for a file of goose")
	}
}
