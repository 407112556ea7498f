package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the checks ask of the slot is what the page says.
func TestSlotIsAskedForAsThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), slotSQL+";") {
		t.Errorf("docs/operations.md has no\n%s", slotSQL)
	}
}

// The short form leaves out what needs Connect, and something is left.
func TestShortForm(t *testing.T) {
	short := choose(regexp.MustCompile(""), true)
	for _, c := range short {
		if c.connect || c.long {
			t.Errorf("%s is in the short form", c.name)
		}
	}
	if len(short) < 5 || len(choose(regexp.MustCompile(""), false)) <= len(short) {
		t.Errorf("%d checks in the short form", len(short))
	}
}
