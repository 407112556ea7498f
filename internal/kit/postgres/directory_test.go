//go:build unix

package postgres

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweepTakesLeftoversOnly(t *testing.T) {
	base := t.TempDir()
	mkdir := func(name string) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	file := func(path string) {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, lock, err := newDirectory(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	left := mkdir(dirPrefix + "left")
	file(filepath.Join(left, lockName))
	young := mkdir(dirPrefix + "young")
	old := mkdir(dirPrefix + "old")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	other := mkdir("another-program")
	file(filepath.Join(other, lockName))

	if err := sweep(nil, base, base); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{held: false, left: true, young: false, old: true, other: false} {
		if gone(dir) != want {
			t.Errorf("%s: gone is %v, want %v", filepath.Base(dir), !want, want)
		}
	}
}
