package outbox

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"sync"
)

// topicName matches the names that Kafka allows for topics, and also "." and "..".
var topicName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

// checkTopic returns an error if no topic can have this name.
func checkTopic(name string) error {
	if !topicName.MatchString(name) || name == "." || name == ".." {
		return fmt.Errorf(`%.250q is not a valid topic name: one has at most 249 of the characters A-Z, a-z, 0-9, ".", "_" and "-", and is not "." or ".."`, name)
	}
	return nil
}

// panicError is the error that a panic becomes.
type panicError struct {
	text  string
	stack string // for the log
}

func (e *panicError) Error() string { return e.text }

func panicked(who string, with any) *panicError {
	return &panicError{fmt.Sprintf("%s panicked: %v", who, with), string(debug.Stack())}
}

// stack is the stack of a panic that an error comes from, as arguments for the log.
func stack(err error) []any {
	if p, is := errors.AsType[*panicError](err); is {
		return []any{"stack", p.stack}
	}
	return nil
}

// topic returns the topic of an aggregate type, or an error if there is none.
func (r *Relay) topic(kind string) (name string, err error) {
	if r.Topic == nil {
		name = "outbox.event." + kind
		return name, checkTopic(name)
	}
	defer func() {
		if p := recover(); p != nil {
			err = panicked("Relay.Topic", p)
		}
	}()
	if name = r.Topic(kind); name == "" {
		return "", errors.New("Relay.Topic has no topic for it")
	}
	return name, checkTopic(name)
}

// produce passes a record to the producer. It calls done once: a record on which the producer
// panics is refused.
func (r *Relay) produce(of Record, done func(error)) {
	var once sync.Once
	answer := func(err error) { once.Do(func() { done(err) }) }
	defer func() {
		if p := recover(); p != nil {
			answer(&RefusedError{Err: panicked("the producer", p)})
		}
	}()
	r.Producer.Produce(of, answer)
}
