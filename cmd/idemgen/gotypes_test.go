package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// typed is a spec whose types have Go types of their own where GO stands.
const typed = `version: 1
consumer: till
package: till

types:
  Number: {is: string GO1}
  Cents: {is: int64 GO2}
  Price: {is: decimal GO3}

tables:
  payments:
    primary_key: [number]
    columns: {number: text, cents: bigint, price: numeric, prices: jsonb}

topics:
  payments.v1:
    record_key: {number: Number}
    assume: {ordered_by: record_key}
    idempotency_key: {source: [number, cents, price], window: 8d}
    events:
      Paid:
        fields: {cents: Cents, price: Price, prices: list(Price)}
        write: [{upsert: payments}]
        handle: true
`

// withGo is typed with the Go types, or without them.
func withGo(names ...string) string {
	text := typed
	for i, place := range []string{" GO1", " GO2", " GO3"} {
		as := ""
		if i < len(names) {
			as = ", go: " + names[i]
		}
		text = strings.Replace(text, place, as, 1)
	}
	return text
}

// tillTypes do not compile before the package is generated: the types are found all the same.
const tillTypes = `package till

type Number string

type Cents int64

type Price struct{ text string }

func (p *Price) UnmarshalText(text []byte) error { p.text = string(text); return nil }

var _, _ = NewConsumer, DecodePaid
`

// identity are the lines of generated code that say what is identified, compared and stored.
var identity = regexp.MustCompile(`(?m)^[ \t]*(Space:|Content:|k\.|f\.|r\.[A-Z]|wire\.OrNull).*$`)

// TestAGoTypeChangesNeitherKeysNorContentNorRows: what is hashed, compared and stored, and how the
// tests' records are made, is that of the spec's type.
func TestAGoTypeChangesNeitherKeysNorContentNorRows(t *testing.T) {
	module(t, map[string]string{"till/idemgen.yaml": withGo(), "till/types.go": tillTypes})
	must(t, "generate", "./till")
	facts := func() map[string]string {
		return map[string]string{
			"state": read(t, "till/idem.state.yaml"), "migrations": tree(t, "till/migrations"), "records and rows of tests": tree(t, "till/testdata"),
			"code": strings.Join(strings.Fields(strings.Join(identity.FindAllString(read(t, "till/idem_payments_v1_gen.go"), -1), "\n")), " "),
		}
	}
	before := facts()
	if !strings.Contains(before["code"], `k.Decimal("price", e.Price)`) || !strings.Contains(before["code"], "r.Numeric(e.Price)") {
		t.Fatalf("the test looks at the wrong lines:\n%s", before["code"])
	}
	const own = "example.com/orders/till."
	write(t, "till/idemgen.yaml", withGo(own+"Number", own+"Cents", own+"Price"))
	must(t, "generate", "./till")
	for name, text := range facts() {
		if text != before[name] {
			t.Errorf("%s changed:\n%s\nwas\n%s", name, text, before[name])
		}
	}
	code := read(t, "till/idem_payments_v1_gen.go")
	for _, want := range []string{"Price  Price\n", "Cents(e.Cents)", "wire.Parse[Price](r, \"price\", e.Price)"} {
		if !strings.Contains(code, want) {
			t.Errorf("generated code has no %q", want)
		}
	}
}

// What is generated is the same from any working directory, and when the package that has the
// types already holds generated code.
func TestGoTypesAreFoundFromAnyWorkingDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	const own = "example.com/orders/till."
	module(t, map[string]string{"till/idemgen.yaml": withGo(own+"Number", own+"Cents", own+"Price"), "till/types.go": tillTypes})
	must(t, "generate", "./till")
	before := tree(t, ".")
	if err := os.Chdir("till"); err != nil {
		t.Fatal(err)
	}
	must(t, "generate")
	must(t, "check")
	if err := os.Chdir(".."); err != nil {
		t.Fatal(err)
	}
	if tree(t, ".") != before {
		t.Error("the files differ")
	}
}

// A package of the service may have any name.
func TestAPackageOfGoTypesMayHaveAnyName(t *testing.T) {
	files := map[string]string{}
	for i, name := range []string{"wire", "e", "json"} {
		files[name+"/types.go"] = "package " + name + "\n\n" + []string{"type Number string", "type Cents int64", "type Price struct{}\n\nfunc (*Price) UnmarshalText([]byte) error { return nil }"}[i] + "\n"
	}
	files["till/idemgen.yaml"] = withGo("example.com/orders/wire.Number", "example.com/orders/e.Cents", "example.com/orders/json.Price")
	module(t, files)
	must(t, "generate", "./till")
	code := read(t, "till/idem_payments_v1_gen.go")
	for _, want := range []string{`wiretypes "example.com/orders/wire"`, "wiretypes.Number(e.Number)", "etypes.Cents(e.Cents)", "wire.Parse[jsontypes.Price](r"} {
		if !strings.Contains(code, want) {
			t.Errorf("generated code has no %q", want)
		}
	}
}
