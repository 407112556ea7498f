// Package testmessages enables generated tests to read Avro and protobuf schemas. The tests of a
// service with such values import it for its side effect:
//
//	import _ "github.com/idemgen/idemgen/runtime/idemtest/testmessages"
//
// It must not import any package of this module but messages, proof and resolve. Tests of
// other services do not link the schema parsers.
package testmessages

import (
	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/proof"
)

func init() {
	proof.Schemas = func(file func(path string) ([]byte, error)) resolve.Schemas { return messages.Schemas(file) }
}
