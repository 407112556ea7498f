package main

import (
	"fmt"
	"regexp"
	"testing"
)

// Parts are chosen before the record is read.
func TestPartsHoldEachBugOnce(t *testing.T) {
	bugs := all()
	for of := 1; of <= 5; of++ {
		parts, times := map[string]int{}, map[string]int{}
		for number := 1; number <= of; number++ {
			o := options{only: regexp.MustCompile(""), shard: shard{number, of}}
			chosen, err := o.choose(bugs)
			if err != nil {
				t.Fatal(err)
			}
			if len(chosen) < len(bugs)/of/2 {
				t.Errorf("part %d of %d has %d bugs of %d", number, of, len(chosen), len(bugs))
			}
			for _, m := range chosen {
				times[m.name]++
				test := key(m.pkg, m.test)
				if parts[test] != 0 && parts[test] != number {
					t.Errorf("%s is in parts %d and %d of %d", test, parts[test], number, of)
				}
				parts[test] = number
			}
		}
		for _, m := range bugs {
			if times[m.name] != 1 {
				t.Errorf("%s is in %d of %d parts", m.name, times[m.name], of)
			}
		}
	}
}

func TestPartsAreRead(t *testing.T) {
	for _, text := range []string{"", "1/1", "2/4", "4/4"} {
		var s shard
		if err := s.Set(text); err != nil || s.String() != text {
			t.Errorf("%q: got %s, %v", text, fmt.Sprint(&s), err)
		}
	}
	for _, text := range []string{"2", "0/4", "5/4", "-1/4", "1/0", "2/4x", "2/ 4", "a/b"} {
		var s shard
		if err := s.Set(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, s.String())
		}
	}
}

// Bugs of one package follow one another: what is built for one serves the next.
func TestBugsOfOneTestFollowOneAnother(t *testing.T) {
	chosen, err := options{only: regexp.MustCompile("")}.choose(all())
	if err != nil {
		t.Fatal(err)
	}
	seen, last := map[string]bool{}, ""
	for _, m := range chosen {
		test := key(m.pkg, m.test)
		if test != last && seen[test] {
			t.Errorf("%s: bugs of other tests stand between its own", test)
		}
		seen[test], last = true, test
	}
	if _, err := (options{only: regexp.MustCompile("no such bug")}).choose(all()); err == nil {
		t.Error("-only that matches no bug is no error")
	}
}
