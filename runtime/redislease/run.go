package redislease

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/lease"
)

// call is one run of a script.
type call struct {
	key  string
	args []any
}

// run runs a script for each of the calls, together, and hands over what each returned. Scripts
// are called by their hash; a server that does not know one, because it is new or its scripts were
// flushed, gets it. It returns when ctx ends, whatever the client's own time-outs are: calls that
// were sent may still be carried out then.
func (s *Store) run(ctx context.Context, script *redis.Script, calls []call, each func(int, *reply)) error {
	results := make([]*redis.Cmd, len(calls))
	places := make([]int, len(calls))
	for i := range calls {
		places[i] = i
	}
	err := s.send(ctx, calls, results, places, script.EvalSha)
	var unknown []int
	for _, i := range places {
		if err == nil && redis.HasErrorPrefix(results[i].Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) > 0 {
		err = s.send(ctx, calls, results, unknown, script.Eval)
	}
	if err != nil {
		return err
	}
	for i, cmd := range results {
		values, err := cmd.Slice()
		if err != nil {
			return judged(err)
		}
		r := &reply{values: values}
		if what, is := r.broken(); is {
			return &lease.Broken{Err: fmt.Errorf("%s in Redis is no lease: %s; mend it, or delete it, and its call is made again", calls[i].key, what)}
		}
		if each(i, r); r.wrong != nil {
			return &lease.Broken{Err: r.wrong}
		}
	}
	return nil
}

// send sends some of the calls in one pipeline. Whether they were carried out, their results tell.
func (s *Store) send(ctx context.Context, calls []call, results []*redis.Cmd, places []int, how func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd) error {
	pipe := s.client.Pipeline()
	for _, i := range places {
		results[i] = how(ctx, pipe, []string{calls[i].key}, calls[i].args...)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = pipe.Exec(ctx) // each result has its own error
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forPeople begin the errors that stay until a person has acted: rights, and a server that runs no
// scripts.
var forPeople = []string{"NOPERM", "NOAUTH", "WRONGPASS", "unknown command"}

// judged tells errors after which the store is asked again from those for people.
func judged(err error) error {
	if err == nil {
		return nil
	}
	for _, prefix := range forPeople {
		if redis.HasErrorPrefix(err, prefix) {
			return &lease.Broken{Err: fmt.Errorf("Redis refuses: %w", err)}
		}
	}
	if errors.Is(err, redis.Nil) || strings.HasPrefix(err.Error(), "redis: unexpected type") {
		return &lease.Broken{Err: errReply}
	}
	return err
}
