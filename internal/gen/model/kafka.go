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

// ShortestWindow is the shortest window of the topic's keys; 0 if it stores none.
func (t *Topic) ShortestWindow() (least time.Duration) {
	for _, e := range t.Events {
		if !e.Key.Offset && (least == 0 || e.Key.Window < least) {
			least = e.Key.Window
		}
	}
	return least
}
