package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// NotFoundError says that the database has no such stream, and which ones it has.
type NotFoundError struct {
	Name Name
	Near []string // partitions of the topic, else topics of the consumer, else consumers
	What string   // what Near lists
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("this database has no ledger of %v", e.Name)
	if e.Name.TopicID != "" {
		text += " with topic id " + e.Name.TopicID
	}
	if len(e.Near) == 0 {
		return text + ", nor any other: is it the right one?"
	}
	return fmt.Sprintf("%s; it has %s %s", text, e.What, strings.Join(e.Near, ", "))
}

// StreamOf returns the stream that n names; without its topic id, the present one. If it is not
// there, the error is a *NotFoundError.
func StreamOf(ctx context.Context, db DB, n Name) (Status, error) {
	if n.TopicID != "" {
		id, err := topicID(n.TopicID)
		if err != nil {
			return Status{}, err
		}
		n.TopicID = id.String()
	}
	all, err := list(ctx, db, "")
	if err != nil {
		return Status{}, err
	}
	found := slices.DeleteFunc(slices.Clone(all), func(s Status) bool {
		return s.Consumer != n.Consumer || s.Topic != n.Topic || s.Partition != n.Partition ||
			n.TopicID != "" && s.TopicID != n.TopicID
	})
	if len(found) == 0 {
		return Status{}, notFound(n, all)
	}
	if i := slices.IndexFunc(found, func(s Status) bool { return !s.Former }); i >= 0 {
		return found[i], nil
	}
	return found[0], nil // named by its id
}

// Known is a *NotFoundError if there is no ledger of a consumer, or none of a topic. "" is any.
func Known(ctx context.Context, db DB, consumer, topic string) error {
	if consumer == "" && topic == "" {
		return nil
	}
	all, err := List(ctx, db, consumer)
	if err != nil || topic == "" {
		return err
	}
	topics := topicsOf(all)
	if slices.Contains(topics, topic) {
		return nil
	}
	return &NotFoundError{Name: Name{Consumer: consumer, Topic: topic, Partition: -1}, Near: topics, What: "topics"}
}

// Partitions are the partitions of a topic that have a ledger, each as the topic is now.
func Partitions(ctx context.Context, db DB, consumer, topic string) ([]Name, error) {
	all, err := list(ctx, db, "")
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, s := range all {
		if s.Consumer == consumer && s.Topic == topic && !s.Former {
			names = append(names, s.Name())
		}
	}
	if len(names) == 0 {
		return nil, notFound(Name{Consumer: consumer, Topic: topic, Partition: -1}, all)
	}
	return names, nil
}

// topicsOf are the topics of streams.
func topicsOf(all []Status) []string {
	var topics []string
	for i := range all {
		topics = append(topics, all[i].Topic)
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// nearMost bounds how many names an error lists.
const nearMost = 20

func notFound(n Name, all []Status) *NotFoundError {
	e := &NotFoundError{Name: n}
	collect := func(what string, name func(s *Status) string) {
		for i := range all {
			if text := name(&all[i]); len(e.Near) < nearMost && text != "" && !slices.Contains(e.Near, text) {
				e.Near, e.What = append(e.Near, text), what
			}
		}
	}
	collect("partitions", func(s *Status) string {
		if s.Consumer != n.Consumer || s.Topic != n.Topic {
			return ""
		}
		if n.TopicID != "" && s.Partition == n.Partition {
			return fmt.Sprintf("%d (topic id %s)", s.Partition, s.TopicID)
		}
		return fmt.Sprint(s.Partition)
	})
	if len(e.Near) == 0 {
		collect("topics", func(s *Status) string {
			if s.Consumer != n.Consumer {
				return ""
			}
			return s.Topic
		})
	}
	if len(e.Near) == 0 {
		collect("consumers", func(s *Status) string { return s.Consumer })
	}
	return e
}
