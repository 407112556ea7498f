//go:build cgo

package services

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/internal/proof/longtest"
)

// services are the ways from init to a service, each in a folder of one module.
var services = []struct {
	name string
	make func(t *testing.T, name string)
}{
	{"handled", ownWithGoCode},
	{"described", describedAsItIs},
	{"sample", sample},
	{"unwritten", unwritten},
}

// What init says leads to services that compile and pass their tests: the sample as it is, a spec
// of one's own in its place, and one of a database. One go command tries all of them.
//
// Each plays one scenario with the records that were generated, and all cases: the packages of
// testdata/golden play all scenarios. The long run does so here, too,
// and vets the services.
func TestServicesPassTheirTests(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	module(t, nil)
	for _, s := range services {
		t.Run(s.name, func(t *testing.T) { s.make(t, s.name) })
	}
	if t.Failed() {
		return
	}
	args := []string{"test", "-v", stripped, "./..."}
	if longtest.Wanted() {
		args = append(args, "-vet=all")
	} else {
		args = append(args, "-vet=off", "-run", "^TestCases$|//^one_by_one$")
	}
	out, err := commandtest.GoCommand(t, args...)
	for _, want := range []string{
		"ok  \texample.com/orders/handled\t", "ok  \texample.com/orders/described\t",
		"--- PASS: TestOrdersV1/handlers/one_by_one ", "--- PASS: TestReturnsV1/handlers/one_by_one ", "--- PASS: TestEventsV1/spec/one_by_one ",
		"--- PASS: TestCases/order_paid ", "--- PASS: TestCases/paid ",
		"idemtest: MailWanted is not implemented: write it at handler.go:", "OrderReturned is not implemented: write it at handler.go:",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("go test does not print %q", want)
		}
	}
	if failed := strings.Count(out, "--- FAIL: "); err == nil || failed != 5 { // two topics' tests of code that is not written
		t.Errorf("%d tests fail: %v", failed, err)
	}
	if t.Failed() {
		t.Fatal(out)
	}
	asksForItsAddresses(t, "sample")
}

// asksForItsAddresses builds the program of a service, which says what it must be told.
func asksForItsAddresses(t *testing.T, name string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "service")
	if out, err := commandtest.GoCommand(t, "build", stripped, "-o", program, "./"+name+"/cmd/"+name); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tc := range []struct{ set, missing string }{{"DATABASE_URL=x", "KAFKA_BROKERS"}, {"KAFKA_BROKERS=x", "DATABASE_URL"}} {
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = []string{tc.set}
		if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), tc.missing+" is not set") {
			t.Errorf("with %s only: %v\n%s", tc.set, err, text)
		}
	}
	stopsWell(t, program, name)
}

// sample is what init leaves, and one more case.
func sample(t *testing.T, name string) {
	must(t, "init", name)
	t.Chdir(name)
	must(t, "check")
	write(t, "testdata/cases/paid.yaml", read(t, "testdata/cases/order_paid.yaml"))
}

// unwritten is a service with Go code that nobody has written yet.
func unwritten(t *testing.T, name string) {
	write(t, name+"/idemgen.yaml", of(name, commandtest.Spec+second)+`
  mails.v1:
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      MailWanted:
        fields: {address: string}
        effect: {if_interrupted: retry}
`)
	must(t, "generate", name)
}

func ownWithGoCode(t *testing.T, name string) { inPlaceOfTheSample(t, name, commandtest.Spec+second) }
