package handler

import (
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/internal/pipeline"
)

// arguments encodes the arguments of queued statements. Their bytes stay until the transaction
// ends, and are allocated together.
type arguments struct {
	builder pgx.ExtendedQueryBuilder
	bytes   []byte
	values  [][]byte
}

// The sizes of what is allocated together.
const (
	argumentBytes  = 4 << 10
	argumentValues = 128
)

// encode sets the arguments of a statement, and the formats, which a statement mostly has in
// common with its last use.
func (a *arguments) encode(types *pgtype.Map, of *use, args []any, s *pipeline.Statement) error {
	b := &a.builder
	if err := b.Build(types, of.is, args); err != nil {
		return err
	}
	size := 0
	for _, v := range b.ParamValues {
		size += len(v)
	}
	if cap(a.bytes)-len(a.bytes) < size {
		a.bytes = make([]byte, 0, max(size, argumentBytes))
	}
	if n := len(b.ParamValues); cap(a.values)-len(a.values) < n {
		a.values = make([][]byte, 0, max(n, argumentValues))
	}
	first := len(a.values)
	for _, v := range b.ParamValues {
		if v != nil { // else NULL
			from := len(a.bytes)
			a.bytes = append(a.bytes, v...)
			v = a.bytes[from:len(a.bytes):len(a.bytes)]
		}
		a.values = append(a.values, v)
	}
	if !slices.Equal(of.formats, b.ParamFormats) {
		of.formats = slices.Clone(b.ParamFormats)
	}
	if !slices.Equal(of.results, b.ResultFormats) {
		of.results = slices.Clone(b.ResultFormats)
	}
	s.Driver, s.Args, s.Formats, s.Results = of.is, a.values[first:len(a.values):len(a.values)], of.formats, of.results
	return nil
}
