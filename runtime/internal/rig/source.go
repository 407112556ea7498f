package rig

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Source is a Source without a broker: it assigns partition 0, delivers one batch, and ends.
type Source struct {
	Assignment idem.Assignment
	batch      []idem.Message
	Position   idem.Position
	Then       func(ctx context.Context, sink idem.Sink) // instead of ending
}

// Hasty makes an owner count as gone soon.
func Hasty(s *wire.Service) { s.Limits.BatchTimeout = 500 * time.Millisecond }

// NewSource returns a source of a batch.
func NewSource(batch []idem.Message) *Source {
	return &Source{batch: batch, Assignment: idem.Assignment{
		Partition: idem.Partition{Topic: Topic}, TopicID: idem.UUID{1}, Partitions: 4, Low: 0, High: 1000, Committed: CommittedAt(-1),
	}}
}

// CommittedAt is a group whose committed offset is known.
func CommittedAt(offset int64) func(context.Context) (idem.Commit, error) {
	return Committing(idem.Commit{Offset: offset})
}

// Committing is a group whose commit is known.
func Committing(c idem.Commit) func(context.Context) (idem.Commit, error) {
	return func(context.Context) (idem.Commit, error) { return c, nil }
}

// ErrDone ends a source whose batch is durable.
var ErrDone = errors.New("delivered")

func (s *Source) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	var err error
	if s.Position, err = sink.Assigned(ctx, s.Assignment); err != nil {
		return err
	}
	if err := sink.Deliver(ctx, s.Assignment.Partition, s.batch); err != nil {
		return err
	}
	if s.Then != nil {
		s.Then(ctx, sink)
	}
	sink.Revoked(s.Assignment.Partition)
	return ErrDone
}

// patience is how long a batch may take on a busy machine: one of hundreds of records that fail
// needs a transaction for each.
const patience = 2 * Soon

// Consume returns the error that ended the source before its batch was durable.
func (s *Source) Consume(t testing.TB, c *Consumer) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := c.Run(ctx, s)
	if errors.Is(err, ErrDone) {
		return nil
	}
	if err == nil {
		t.Fatal("the batch was not durable in", patience)
	}
	return err
}

// SourceFunc is a Source of one function.
type SourceFunc func(ctx context.Context, sink idem.Sink) error

func (f SourceFunc) Run(ctx context.Context, _ idem.Subscription, sink idem.Sink) error {
	return f(ctx, sink)
}
