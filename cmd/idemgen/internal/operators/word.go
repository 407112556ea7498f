package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/operate"
)

// value is the value of a flag: set reads it, and kind is what help calls it.
type value struct {
	kind string
	set  func(text string) error
}

func (v value) String() string        { return "" }
func (v value) Type() string          { return v.kind }
func (v value) Set(text string) error { return v.set(text) }

// oneOf takes one of some words.
func oneOf(to *string, words ...string) value {
	return value{"WORD", func(text string) error {
		if slices.Contains(words, text) {
			*to = text
			return nil
		}
		if near := syntax.Closest(text, words); near != "" {
			return fmt.Errorf("did you mean %s?", near)
		}
		return fmt.Errorf("want one of %s", strings.Join(words, ", "))
	}}
}

// number takes a number between two others.
func number[T int | int32 | int64](to *T, least, most T) value {
	return value{"N", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < int64(least) || n > int64(most) {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		*to = T(n)
		return nil
	}}
}

// natural takes a number of a partition, or of partitions.
func natural(to *int32) value { return number(to, 0, math.MaxInt32) }

// notEmpty takes a text, which a variable that is not set does not make. hint says what to write.
func notEmpty(to *string, hint string) value {
	return value{"string", func(text string) error {
		if *to = text; strings.TrimSpace(text) == "" {
			return errors.New("it is empty: " + hint)
		}
		return nil
	}}
}

// place reads a partition and an offset.
func place(text string) (p operate.Place, err error) {
	number, rest, found := strings.Cut(text, ":")
	partition, errPartition := strconv.ParseUint(number, 10, 31)
	offset, errOffset := strconv.ParseUint(rest, 10, 63)
	if !found || errPartition != nil || errOffset != nil {
		return p, fmt.Errorf("%q is not PARTITION:OFFSET, such as 0:4711; a consumer is named by --consumer", text)
	}
	p.Partition, p.Offset = int32(partition), int64(offset)
	return p, nil
}
