// Package house divides the product's packages into houses, by which the product is weighed and by
// which one sees where tests are missing. It must not import any other
// package of this module.
package house

import "regexp"

// houses are in the order in which they are asked: a package belongs to the first that matches.
var houses = []struct {
	name string // "" is what only proves the product
	is   *regexp.Regexp
}{
	{"", regexp.MustCompile(`^(examples|bench|scripts|testdata|internal/(kit|proof)|runtime/idemtest|runtime/internal/rig)\b|/commandtest\b`)},
	{"effects", regexp.MustCompile(`^runtime/(effects|httpcall|redislease|lease|internal/(effect|pglease))\b`)},
	{"outbox", regexp.MustCompile(`^runtime/outbox\b`)},
	{"formats", regexp.MustCompile(`^(runtime/(avro|protobuf|framedjson|internal/packed)|internal/(avromsg|protomsg|frame))\b`)},
	{"clients", regexp.MustCompile(`^runtime/(confluent|franz|internal/(member|intake|lag|refusal))\b`)},
	{"observe", regexp.MustCompile(`^runtime/(idemotel|idemprom)\b`)},
	{"operators", regexp.MustCompile(`^(runtime/(console|internal/report)|internal/(operate|process)|cmd/idemgen/internal/(doctor|operators))\b`)},
	{"commands", regexp.MustCompile(`^cmd/idemgen\b`)},
	{"generator", regexp.MustCompile(`^(generator|internal/gen|schema|templates)\b`)},
	{"core", regexp.MustCompile(`^(runtime|internal)\b`)},
}

// Names are the houses, in the order in which they are printed.
var Names = []string{"core", "clients", "effects", "outbox", "formats", "observe", "operators", "generator", "commands"}

// Of returns the house of a package or a file, by its path below the module's root; "" if it only
// proves the product.
func Of(path string) string {
	for _, h := range houses {
		if h.is.MatchString(path) {
			return h.name
		}
	}
	return ""
}
