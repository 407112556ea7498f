package main

import (
	"flag"
	"strings"
	"testing"
)

// What is asked for is done or refused: no argument is passed over.
func TestArgumentsAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"":                "",
		"-soak 5":         "",
		"-soak 1":         "",
		"-soak 0":         "at least a minute",
		"-soak 0.5":       "at least a minute",
		"-soak -3":        "at least a minute",
		"-soak NaN":       "at least a minute",
		"extra":           `"extra" is no flag`,
		"-soak 5 -- more": `"more" is no flag`,
	} {
		f := flag.NewFlagSet("faults", flag.ContinueOnError)
		soak := f.Float64("soak", 0, "")
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		switch err := refuse(f, *soak); {
		case err == nil && want != "":
			t.Errorf("%q is not refused", args)
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", args, err)
		}
	}
}
