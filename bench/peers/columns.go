package main

import "github.com/twmb/franz-go/pkg/kgo"

// columns holds the rows of a batch, column by column, as its statement takes them.
type columns interface {
	clear()
	add(*kgo.Record) error
	args() []any
}
