// Package door is what package idem opens to packages of this module only: effects to package
// effects, and partitions without a Source to the tests of package idemtest. Package idem imports
// no package that needs it, so it puts in these variables what it does.
//
// It must not import any package of this module but engine and idemtype.
package door

import (
	"context"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine"
)

// What package idem does. A consumer is an *idem.Consumer, an option an idem.Option.
var (
	// Effects returns the option that enables effects.
	Effects func(engine.Effects) (option any)
	// Own takes over a partition. From then on, the previous owner is fenced. A partition without
	// a ledger starts at offset start.
	Own func(ctx context.Context, consumer any, of idemtype.Partition, start int64) (*engine.Owner, error)
	// Close closes the connections that a consumer opened. Later calls open new ones.
	Close func(consumer any)
)
