package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
)

// Pause stops the consumption of a partition until [Resume]: no worker appends after its row.
func Pause(ctx context.Context, db DB, name Name, by By) (Change, error) {
	status, err := StreamOf(ctx, db, name)
	if err != nil {
		return Change{}, err
	}
	on, err := reportOf(ctx, db, status)
	if err != nil {
		return Change{}, err
	}
	effect := "nothing is applied until idemgen stream resume"
	if on.Unknown() == "" && on.State == "HALTED" {
		effect += fmt.Sprintf("; it is halted (%s), and retries then", on.Code)
	}
	return begin(ctx, db, name, by, func(t ledger.Tail) (ledger.Row, string, error) {
		if t.Kind == ledger.Pause {
			return ledger.Row{}, fmt.Sprintf("paused already (%s), nothing appended", last(t)), nil
		}
		return ledger.Row{Kind: ledger.Pause, Next: t.Next, Epoch: t.Epoch, Letters: t.Letters}, effect, nil
	})
}

// Resume ends a pause: the partition continues where it was.
func Resume(ctx context.Context, db DB, name Name, by By) (Change, error) {
	return beginPaused(ctx, db, name, by, true, func(t ledger.Tail) (ledger.Row, string, error) {
		if t.Kind != ledger.Pause {
			return ledger.Row{}, fmt.Sprintf("not paused (%s), nothing appended", last(t)), nil
		}
		return ledger.Row{Kind: ledger.Operator, Next: t.Next, Epoch: t.Epoch, Letters: t.Letters}, fmt.Sprintf("the partition continues at offset %d", t.Next), nil
	})
}

// Pause returns the pause with which the ledger ends, in words, and the command that ends it; ""
// if it does not end with one.
func (s *Status) Pause() (paused, end string) {
	if s.Tail == nil || s.Tail.Kind != kinds[ledger.Pause] {
		return "", ""
	}
	way := halt.Way{Code: halt.Paused, Consumer: s.Consumer, Topic: s.Topic, Partition: s.Partition}
	return fmt.Sprintf("paused at %s by %s", s.Tail.WrittenAt.Format(time.RFC3339), s.Tail.Info), way.String()
}

// Paused reports whether the process halts the partition because an operator paused it.
func (r *Reported) Paused() bool { return r != nil && !r.Silent && r.Code == string(halt.Paused) }

// Unpaused returns, of all present streams of a topic, which other partitions the topic has: they
// have no ledger yet, so they are not paused.
func Unpaused(present []Status) (others []Change) {
	has, parts := map[int32]bool{}, int32(0)
	for _, s := range present {
		has[s.Partition] = true
		if s.Tail != nil {
			parts = max(parts, s.Tail.Partitions)
		}
	}
	for n := range parts {
		if !has[n] {
			name := present[0].Name
			name.Partition = n
			others = append(others, Change{Name: name, Effect: "NOT paused: it has no ledger yet; pause it once the service has taken it over"})
		}
	}
	return others
}
