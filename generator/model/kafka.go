package model

import (
	"slices"
	"strings"
)

// Reads reports whether the topic of a name is one of the entry's.
func (t *Topic) Reads(name string) bool { return slices.Contains(t.Kafka, name) }

// TopicsText is the topics of the entry in words, for comments and messages.
func (t *Topic) TopicsText() string { return strings.Join(t.Kafka, ", ") }
