// Package door is what package idem opens to packages of this module only: effects to package
// effects, partitions without a Source to the tests of package idemtest, and these, a clock and
// its parts to the runtime's own tests. Package idem imports no package that needs it, so it puts
// in these variables what it does.
//
// It must not import any package of this module but engine, idemtype and maintain.
package door

import (
	"context"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
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
	// Clock returns the option that sets this process's clock.
	Clock func(now func() time.Time) (option any)
	// Parts returns what the partitions of a consumer share, and the upkeep of its tables.
	Parts func(consumer any) (*engine.Process, *maintain.Job)
)
