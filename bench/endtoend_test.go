package main

import "testing"

// The rival of the end-to-end figure is this runtime less one line, which must be there.
func TestLedgerCanBeLeftOut(t *testing.T) {
	t.Chdir("..")
	if _, err := withoutLedger(t.TempDir()); err != nil {
		t.Fatal(err)
	}
}
