package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var accepts = regexp.MustCompile(`(?m)^ +accept:.*\n(?: +W9\d\d:.*\n)*`)

// What a spec accepts is not told, and does not count for --strict. Nothing else of a run changes.
func TestAcceptedWarningsAreKeptBack(t *testing.T) {
	for spec, warnings := range map[string][]string{
		"accepted_warnings": {"W901", "W902", "W903", "W904", "W905", "W906", "W908", "W911"},
		"effects_on_redis":  {"W911", "W913"},
	} {
		t.Run(spec, func(t *testing.T) {
			text := read(t, golden+"/accepted/"+spec+"/idemgen.yaml")
			module(t, map[string]string{"idemgen.yaml": text})
			if code, _, stderr := run(t, "generate", "--strict"); code != done || strings.Contains(stderr, "W9") {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			if out := must(t, "check", "--strict", "--json"); !strings.Contains(out, `"diagnostics": []`) {
				t.Error(out)
			}
			write(t, "idemgen.yaml", accepts.ReplaceAllString(text, ""))
			code, diff, stderr := run(t, "check")
			if code != done {
				t.Errorf("without accept something else is generated: exit code %d\n%s", code, diff)
			}
			for _, warning := range warnings {
				if !strings.Contains(stderr, warning) {
					t.Errorf("nothing is accepted, and %s is not told:\n%s", warning, stderr)
				}
			}
		})
	}
}

// Each event accepts for itself what is told at a place that several read.
func TestAnEventAcceptsForItself(t *testing.T) {
	const spec = `version: 1
consumer: mail
package: mail
types:
  Contact: {fields: {email: {type: string, sensitive: true}}}
tables:
  mails: {primary_key: [email], columns: {email: text}}
topics:
  mails.v1:
    event_type: {header: type}
    idempotency_key: {source: email, window: 1d}
    events:
      A: {type: a, fields: Contact, write: [{insert: mails}]}
      B: {type: b, fields: Contact, write: [{insert: mails}]}
      C: {type: c, fields: Contact, write: [{insert: mails}]}
`
	accepting := func(events ...string) string {
		text := spec
		for _, e := range events {
			text = strings.Replace(text, e+": {type", e+": {accept: {W906: the address is public}, type", 1)
		}
		return text
	}
	module(t, nil)
	for _, c := range []struct {
		text string
		told string
	}{
		{spec, `event "A"`},
		{accepting("A"), `event "B"`},
		{accepting("A", "C"), `event "B"`},
		{accepting("A", "B", "C"), ""},
		{strings.Replace(spec, "    event_type", "    accept: {W906: the address is public}\n    event_type", 1), ""},
	} {
		write(t, "idemgen.yaml", c.text)
		code, _, stderr := run(t, "generate")
		if code != done || strings.Contains(stderr, "W906") != (c.told != "") || !strings.Contains(stderr, c.told) {
			t.Errorf("exit code %d, want a warning of %s\n%s", code, c.told, stderr)
		}
	}
}

// What is accepted of an event without a case is no more of use once there is one.
func TestAnAcceptEndsWithWhatItWasFor(t *testing.T) {
	module(t, nil)
	must(t, "init")
	if err := os.Remove("testdata/cases/order_paid.yaml"); err != nil {
		t.Fatal(err)
	}
	must(t, "generate")
	edit(t, "idemgen.yaml", "        handle: true\n", "        handle: true\n        accept: {W911: the code is written in May}\n")
	must(t, "check", "--strict")
	must(t, "case", "paid")
	filled(t, "testdata/cases/paid.yaml")
	refused(t, `E212: event "OrderPaid" accepts W911, and has no such warning`, "generate")
}
