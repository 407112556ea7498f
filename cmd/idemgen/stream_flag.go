package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// natural is the value of a flag: a number that is not negative.
type natural[T int32 | int64] struct {
	number *T
	bits   int
	name   string // in help
}

func (n natural[T]) String() string { return "" }
func (n natural[T]) Type() string   { return n.name }

func (n natural[T]) Set(text string) error {
	number, err := strconv.ParseUint(text, 10, n.bits-1)
	if err != nil {
		return fmt.Errorf("want a number from 0 to %d", uint64(1)<<(n.bits-1)-1)
	}
	*n.number = T(number)
	return nil
}

// partitionFlag adds the flag that names a partition.
func partitionFlag(cmd *cobra.Command, partition *int32, usage string) {
	cmd.Flags().Var(natural[int32]{partition, 32, "N"}, "partition", usage)
}

// partitionsFlag adds the flag that says how many partitions the topic has.
func partitionsFlag(cmd *cobra.Command, count *int32) {
	cmd.Flags().Var(natural[int32]{count, 32, "COUNT"}, "partitions", "how many partitions the topic has")
}
