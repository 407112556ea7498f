package generator

import (
	"os"
	"strings"
	"testing"
)

// A result keeps the folder of each spec open until it is closed.
func TestFoldersAreOpenUntilTheResultIsClosed(t *testing.T) {
	var specs []Spec
	for _, path := range []string{"../examples/orders/idemgen.yaml", "../examples/takeover/idemgen.yaml"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, Spec{Path: path, Content: content})
	}
	result, err := Generate(specs)
	if err != nil {
		t.Fatal(err)
	}
	open := func() (n int) {
		for _, s := range result.sources {
			if _, err := s.folder.Read("idemgen.yaml"); err == nil {
				n++
			}
		}
		return n
	}
	before := open()
	if err := result.Close(); err != nil || before != len(specs) || open() != 0 {
		t.Errorf("%v; of %d folders %d were open, and %d are afterwards", err, len(specs), before, open())
	}
}

// Of drawn records those are sent to a service that no case shows and the spec does not refuse.
// What a case says of effects is not compared, because the service's own are called.
func TestSamplesOfAService(t *testing.T) {
	for spec, want := range map[string][]string{
		"../examples/orders/idemgen.yaml":       {"case erased", "case two_payments"},
		"../examples/welcome-mail/idemgen.yaml": {"case welcome, which is not compared with its then: your own effects are called"},
		"../examples/takeover/idemgen.yaml":     {"records of payments.v1 for events in no case (PaymentReceived): their values are made up"},
	} {
		content, err := os.ReadFile(spec)
		if err != nil {
			t.Fatal(err)
		}
		l, err := LocalOf(Spec{Path: spec, Content: content})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range l.Samples {
			names = append(names, s.Name)
			if len(s.Records) == 0 {
				t.Errorf("%s: %s has no record", spec, s.Name)
			}
			for _, r := range s.Records {
				if r.Event == "" && s.Case == "" {
					t.Errorf("%s: %s sends a record of no event", spec, s.Name)
				}
			}
			if s.Then != (s.Case != "" && !strings.Contains(s.Name, "not compared")) {
				t.Errorf("%s: %s is compared: %v", spec, s.Name, s.Then)
			}
		}
		for i, name := range want {
			if i >= len(names) || !strings.HasPrefix(names[i], name) {
				t.Errorf("%s: samples %q, want %q", spec, names, want)
				break
			}
		}
		if len(names) != len(want) {
			t.Errorf("%s: samples %q, want %q", spec, names, want)
		}
	}
}
