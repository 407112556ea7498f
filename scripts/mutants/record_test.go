package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func testRecord(t *testing.T) record {
	t.Helper()
	return record{filepath.Join(t.TempDir(), "caught.txt")}
}

// write puts lines into a record.
func (r record) write(t *testing.T, add ...line) {
	t.Helper()
	err := r.change(func(all lines) {
		for _, l := range add {
			all[l] = true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r record) text(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// hashOf is a hash that is none of a bug.
func hashOf(n int) string { return fmt.Sprintf("%016x", n) }

func TestRecordIsReadAsItWasWritten(t *testing.T) {
	r := testRecord(t)
	if all, err := r.read(); err != nil || len(all) != 0 {
		t.Errorf("before anything was written: got %v, %v", all, err)
	}
	zebra, ant := line{hashOf(1), "zebra: it (1, 2) is #1"}, line{hashOf(2), "ant"}
	r.write(t, zebra, ant)
	if got, err := r.read(); err != nil || !maps.Equal(got, lines{ant: true, zebra: true}) {
		t.Errorf("got %v, %v", got, err)
	}
	want := head + hashOf(2) + " ant\n" + hashOf(1) + " zebra: it (1, 2) is #1\n"
	if got := r.text(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if files, _ := os.ReadDir(filepath.Dir(r.path)); len(files) != 1 {
		t.Errorf("other files are left: %v", files)
	}
}

// A merge may put lines and heads anywhere. It may not leave its marks.
func TestRecordAfterAMerge(t *testing.T) {
	r := testRecord(t)
	merged := head + hashOf(3) + " b\n" + head + "\n" + hashOf(2) + " a\n" + hashOf(1) + " b\n"
	if err := os.WriteFile(r.path, []byte(merged), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &book{r, map[string]string{"a": hashOf(2), "b": hashOf(1), "c": hashOf(3)}}
	left, err := b.left([]mutant{{name: "a"}, {name: "b"}, {name: "c"}})
	if err != nil || len(left) != 1 || left[0].name != "c" {
		t.Errorf("left to play are %v, %v", left, err)
	}
	if err := b.note(mutant{name: "b"}, caught); err != nil {
		t.Fatal(err)
	}
	if got, want := r.text(t), head+hashOf(2)+" a\n"+hashOf(1)+" b\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.WriteFile(r.path, []byte(head+"<<<<<<< HEAD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.read(); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Errorf("marks of a merge: got %v", err)
	}
}

// Bugs that are played at the same time, by several processes too, leave all their lines.
func TestRecordIsChangedByManyAtOnce(t *testing.T) {
	path := testRecord(t).path
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			name := fmt.Sprint("bug ", n)
			b := &book{record{path}, map[string]string{name: hashOf(n)}}
			if err := b.note(mutant{name: name}, caught); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := (record{path}).read(); err != nil || len(all) != 50 {
		t.Errorf("got %d lines, %v", len(all), err)
	}
}

// The committed record can be read.
func TestCommittedRecord(t *testing.T) {
	if _, err := (record{filepath.Base(recordPath)}).read(); err != nil {
		t.Error(err)
	}
}
