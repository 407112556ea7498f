package model

import (
	"slices"
	"strings"
	"time"
)

// Reads reports whether the topic of a name is one of the entry's.
func (t *Topic) Reads(name string) bool { return slices.Contains(t.Kafka, name) }

// TopicsText is the topics of the entry in words, for comments and messages.
func (t *Topic) TopicsText() string { return strings.Join(t.Kafka, ", ") }

// HasBinaryHeaders reports whether a header is binary.
func (t *Topic) HasBinaryHeaders() bool {
	return slices.ContainsFunc(t.Events, func(e *Event) bool {
		return slices.ContainsFunc(e.Fields, func(f *Field) bool { return f.Source.Binary })
	})
}

// BinaryHeader is the type of a header that is binary; 0 if it is a text.
func (t *Topic) BinaryHeader(name string) Kind {
	for _, e := range t.Events {
		for _, f := range e.Fields {
			if f.Source.Binary && f.Source.Header == name {
				return f.Type.Kind
			}
		}
	}
	return 0
}

// ShortestWindow is the shortest window of the topic's keys; 0 if it stores none.
func (t *Topic) ShortestWindow() (least time.Duration) {
	for _, e := range t.Events {
		if !e.Key.Offset && (least == 0 || e.Key.Window < least) {
			least = e.Key.Window
		}
	}
	return least
}

// LongestWindow is the longest window of the topic's keys that all partitions remember, or of
// those that the chain of one remembers; 0 if there are none.
func (t *Topic) LongestWindow(samePartition bool) (longest time.Duration) {
	for _, e := range t.Events {
		if !e.Key.Offset && e.Key.SamePartition == samePartition {
			longest = max(longest, e.Key.Window)
		}
	}
	return longest
}
