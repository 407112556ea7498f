package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// setTo reads --to: an offset, or, for adopt, partitions with an offset each.
func (s *streamCall) setTo(text string) error {
	if s.verb.name != "adopt" || !strings.Contains(text, ":") {
		to, err := strconv.ParseInt(text, 10, 64)
		if s.to = to; err != nil {
			return errors.New("want an offset")
		}
		return nil
	}
	for place := range strings.SplitSeq(text, ",") {
		number, offset, _ := strings.Cut(place, ":")
		partition, err := strconv.ParseInt(number, 10, 32)
		to, errTo := strconv.ParseInt(offset, 10, 64)
		if err != nil || errTo != nil || partition < 0 || to < 0 {
			return errors.New("want PARTITION:OFFSET, several with commas between them")
		}
		if _, twice := s.places[int32(partition)]; twice {
			return fmt.Errorf("partition %d has two offsets", partition)
		}
		if s.places == nil {
			s.places = map[int32]int64{}
		}
		s.places[int32(partition)] = to
	}
	return nil
}

// agree refuses flags that contradict each other, before anything is asked.
func (s *streamCall) agree(given map[string]bool) error {
	switch {
	case given["operator"] && strings.TrimSpace(s.by.Operator) == "":
		return errors.New("--operator is empty: the ledger keeps who acted")
	case s.verb.name == "release" && given["partition"] == s.all:
		return errors.New("want --partition N, or --all for every partition of the topic: also those that work, which are taken over again at once")
	case s.verb.name == "adopt" && given["partition"] == (len(s.places) > 0):
		return errors.New("want --partition N --to OFFSET, or --to PARTITION:OFFSET,PARTITION:OFFSET for several")
	case given["partition"] && given["partitions"] && s.partition >= s.partitions && !s.fewer:
		return fmt.Errorf("--partition %d is none of %d: they are numbered from 0", s.partition, s.partitions)
	case s.verb.name == "skip" && given["from"] && s.to <= s.from:
		return fmt.Errorf("--to %d is not behind --from %d: skip moves forward only", s.to, s.from)
	case s.verb.name == "rewind" && given["from"] && s.to >= s.from:
		return fmt.Errorf("--to %d is not before --from %d: rewind moves back only", s.to, s.from)
	}
	return nil
}
