package main

import (
	"fmt"
	"hash/fnv"
)

// shard is one of several parts of the bugs. Bugs of one test are in one part, and a bug stays
// in its part whatever becomes of the others. The zero value is all bugs.
type shard struct{ number, of int }

// Set reads 2/4, the second of four parts.
func (s *shard) Set(text string) error {
	if text == "" {
		*s = shard{}
		return nil
	}
	var read shard
	_, err := fmt.Sscanf(text, "%d/%d", &read.number, &read.of)
	if err != nil || read.String() != text {
		return fmt.Errorf("%q is no part of a whole: write 2/4", text)
	}
	if read.number < 1 || read.number > read.of {
		return fmt.Errorf("there is no part %d of %d", read.number, read.of)
	}
	*s = read
	return nil
}

func (s *shard) String() string {
	if s == nil || s.of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.number, s.of)
}

// has reports whether a bug is in the part.
func (s shard) has(m mutant) bool {
	if s.of == 0 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(m.pkg + " " + m.test))
	return int(h.Sum32()%uint32(s.of)) == s.number-1
}
