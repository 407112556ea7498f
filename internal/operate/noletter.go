package operate

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/runtime/wire"
)

// NoLetterError says that there is no letter of a record, and what the ledger says of it.
type NoLetterError struct {
	Place
	Near []int64 // offsets of the partition's letters, the nearest first
}

func (e *NoLetterError) Error() string {
	text := fmt.Sprintf("%s/%d of %s has no dead letter at offset %d", e.Topic, e.Partition, e.Consumer, e.Offset)
	if len(e.Near) == 0 {
		return text + ", nor at any other"
	}
	near := make([]string, len(e.Near))
	for i, offset := range e.Near {
		near[i] = fmt.Sprintf("%d:%d", e.Partition, offset)
	}
	return text + "; the nearest are " + strings.Join(near, ", ")
}

// Classes are the first words of reasons.
var Classes = []string{
	wire.ReasonDecode, wire.ReasonKey, wire.ReasonFit, wire.ReasonConflict, wire.ReasonUnknownType, wire.ReasonTombstone,
	wire.ReasonTooLarge, wire.ReasonDatabase, wire.ReasonHandler, wire.ReasonEffect, wire.ReasonResult, wire.ReasonInterrupted,
}
