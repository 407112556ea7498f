package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The rival of the end-to-end figure is this runtime less one line, which must be there.
func TestLedgerCanBeLeftOut(t *testing.T) {
	t.Chdir("..")
	if _, err := withoutLedger(t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// The rival with stored keys is the example with another key: its spec must hold the one that
// is replaced, and what is generated must replace files that are there.
func TestHeaderKeysReplaceTheExamplesCode(t *testing.T) {
	t.Chdir("..")
	list, err := withHeaderKeys(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &overlay); err != nil {
		t.Fatal(err)
	}
	stored := false
	for own, generated := range overlay.Replace {
		if _, err := os.Stat(own); err != nil {
			t.Error(err)
		}
		src, err := os.ReadFile(generated)
		if err != nil {
			t.Fatal(err)
		}
		stored = stored || strings.Contains(string(src), `k.Header(m, "Idempotency-Key")`)
	}
	if !stored {
		t.Errorf("no file of %v takes the key from the header", overlay.Replace)
	}
}
