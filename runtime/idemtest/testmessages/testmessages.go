// Package testmessages enables generated tests to read Avro and protobuf schemas. The tests of a
// service with such values import it for its side effect:
//
//	import _ "github.com/idemgen/idemgen/runtime/idemtest/testmessages"
//
// It must not import any package of this module but messages, model, proof and syntax. Tests of
// other services do not link the schema parsers.
package testmessages

import (
	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof"
)

func init() {
	proof.Schemas = func(spec *syntax.Spec, file func(path string) ([]byte, error)) (func(*model.Service) syntax.Diagnostics, syntax.Diagnostics) {
		all, problems := messages.Read(spec, file)
		return all.Attach, problems
	}
}
