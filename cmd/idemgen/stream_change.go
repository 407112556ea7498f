package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/stream"
)

func confirmPartitions(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	return s.each(ctx, db, func(n stream.Name) (stream.Change, error) {
		return stream.ConfirmPartitions(ctx, db, n, int32(s.partitions), s.fewer, s.by)
	})
}

func release(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	return s.each(ctx, db, func(n stream.Name) (stream.Change, error) {
		return stream.Release(ctx, db, n, s.older, s.by)
	})
}

func adopt(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	if len(s.places) > 0 {
		return s.adoptSeveral(ctx, db)
	}
	return one(stream.Adopt(ctx, db, s.name, stream.Adoption{
		To: s.to, Partitions: int32(s.partitions),
	}, s.by))
}

// adoptSeveral begins the ledgers of several partitions, in their order. One that was begun
// already ends it: what was done before is told.
func (s *streamCall) adoptSeveral(ctx context.Context, db stream.DB) (result, error) {
	var all changed
	for _, partition := range slices.Sorted(maps.Keys(s.places)) {
		s.name.Partition = partition
		c, err := stream.Adopt(ctx, db, s.name, stream.Adoption{To: s.places[partition], Partitions: int32(s.partitions)}, s.by)
		if err != nil {
			return all, fmt.Errorf("%w; %d of %d partitions are done", err, len(all), len(s.places))
		}
		all = append(all, c)
	}
	return all, nil
}

func skip(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	return one(stream.Skip(ctx, db, s.name, stream.Unmoved(s.from), s.to, s.by))
}

func rewind(ctx context.Context, db stream.DB, s *streamCall) (result, error) {
	return one(stream.Rewind(ctx, db, s.name, stream.Unmoved(s.from), s.to, s.applyAgain, s.by))
}

// each runs a command on the partition that was named, or on all of the topic that have a
// ledger.
func (s *streamCall) each(ctx context.Context, db stream.DB, do func(stream.Name) (stream.Change, error)) (result, error) {
	if s.partition >= 0 {
		return one(do(s.name))
	}
	names, err := stream.Partitions(ctx, db, s.name.Consumer, s.name.Topic)
	if err != nil {
		return nil, err
	}
	var all changed
	for _, n := range names {
		c, err := do(n)
		if err != nil {
			return all, fmt.Errorf("%w; %d of %d partitions are done", err, len(all), len(names))
		}
		all = append(all, c)
	}
	return all, nil
}

func one(c stream.Change, err error) (result, error) {
	if err != nil {
		return nil, err
	}
	return changed{c}, nil
}

// changed is the result of all commands but list.
type changed []stream.Change

func (l changed) text() string {
	var b strings.Builder
	for _, c := range l {
		if c.Kind == "" {
			fmt.Fprintf(&b, "%s/%d of %s: %s\n", c.Topic, c.Partition, c.Consumer, c.Effect)
			continue
		}
		did := "appended"
		if !c.Appended {
			did = "would append"
		}
		fmt.Fprintf(&b, "%s/%d of %s: %s row %d (%s), offset %d -> %d: %s. %q\n",
			c.Topic, c.Partition, c.Consumer, did, c.Seq, c.Kind, c.From, c.To, c.Effect, c.Info)
	}
	return b.String()
}
