package redislease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/runtime/lease"
)

// call is one run of a script.
type call struct {
	key  string
	args []any
}

// run runs a script for all calls in one pipeline, and passes the reply of each to each. It uses
// EVALSHA, and sends the script again to a server that does not know it, because it is new or its
// scripts were flushed. It returns when ctx is done, whatever the client's own timeouts are; calls
// that were sent may still be carried out.
func (s *Store) run(ctx context.Context, script *redis.Script, calls []call, each func(int, *reply)) error {
	replies := make([]sent, len(calls))
	places := make([]int, len(calls))
	for i := range calls {
		places[i] = i
	}
	if err := s.send(ctx, calls, replies, places, script.EvalSha); err != nil {
		return err
	}
	places = slices.DeleteFunc(places, func(i int) bool { return !redis.HasErrorPrefix(replies[i].err, "NOSCRIPT") })
	if len(places) > 0 {
		if err := s.send(ctx, calls, replies, places, script.Eval); err != nil {
			return err
		}
	}
	for i, of := range replies {
		if of.err != nil {
			return judged(of.err)
		}
		r := &reply{values: of.values}
		if what, is := r.broken(); is {
			return &lease.Broken{Err: fmt.Errorf("%s in Redis is not a valid lease: %s; repair it, or delete it to repeat the call", calls[i].key, what)}
		}
		if each(i, r); r.wrong != nil {
			return &lease.Broken{Err: r.wrong}
		}
	}
	return nil
}

// sent is the outcome of a call: the reply of its script, or an error.
type sent struct {
	values []any
	err    error
}

// send sends the calls at places in one pipeline, and stores the outcome of each in replies.
func (s *Store) send(ctx context.Context, calls []call, replies []sent, places []int, how func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd) error {
	pipe := s.client.Pipeline()
	cmds := make([]*redis.Cmd, len(places))
	for n, i := range places {
		cmds[n] = how(ctx, pipe, []string{calls[i].key}, calls[i].args...)
	}
	done := make(chan error, 1)
	go func() {
		_, err := pipe.Exec(ctx)
		done <- err
	}()
	select {
	case err := <-done:
		for n, i := range places {
			replies[i] = sentBy(cmds[n], err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sentBy returns the outcome of a command of a pipeline. A command that was never sent may have no
// error of its own; only its pipeline has one.
func sentBy(cmd *redis.Cmd, pipeline error) sent {
	switch values, is := cmd.Val().([]any); {
	case cmd.Err() != nil:
		return sent{err: cmd.Err()}
	case is:
		return sent{values: values}
	case pipeline != nil:
		return sent{err: pipeline}
	}
	return sent{err: &lease.Broken{Err: errReply}}
}

// forPeople are texts of errors that need an operator: missing rights. The wording of errors in
// scripts depends on the version of Redis.
var forPeople = []string{"NOPERM", "NOAUTH", "WRONGPASS", "ACL failure in script", "can't run this command"}

// judged wraps errors that need an operator in a [lease.Broken]. After all others the caller
// retries.
func judged(err error) error {
	if _, is := errors.AsType[redis.Error](err); !is {
		return err
	}
	if redis.HasErrorPrefix(err, "unknown command") { // its text repeats the arguments
		return &lease.Broken{Err: errors.New("this Redis does not support scripts: it does not know EVALSHA")}
	}
	for _, text := range forPeople {
		if strings.Contains(err.Error(), text) {
			return &lease.Broken{Err: fmt.Errorf("access to the leases in Redis is denied: %w", err)}
		}
	}
	return err
}
