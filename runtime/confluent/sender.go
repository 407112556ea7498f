package confluent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/idemgen/idemgen/runtime/outbox"
)

// sender sends the records of a relay, through a client of its own.
type sender struct {
	config          *kafka.ConfigMap
	transactionalID string     // "" is none
	log             *clientLog // its errors are guarded by mu
	client          *kafka.Producer
	lines           chan kafka.LogEvent // the client's log, which ends with the client
	refused         map[string]bool     // topics: the client does not ask for one again by itself

	mu    sync.Mutex
	cause string // why brokers cannot be reached, as the client said last; "" if it did not
}

const (
	// initTimeout is how long the broker may take to end what an earlier sender had on its way.
	initTimeout   = 30 * time.Second
	askTimeout    = 5 * time.Second // for one question to the broker
	producerClose = 10 * time.Second
)

// open makes a client. If that is of no use, it is closed.
func (s *sender) open(ctx context.Context) (err error) {
	lines := make(chan kafka.LogEvent, 100)
	config := maps.Clone(*s.config)
	config["go.logs.channel"] = lines
	if s.client, err = kafka.NewProducer(&config); err != nil {
		return fmt.Errorf("confluent: %w", err)
	}
	s.lines = lines
	go s.log.forward(context.WithoutCancel(ctx), lines)
	go s.events(s.client.Events())
	if s.transactionalID == "" {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	if err := s.client.InitTransactions(short); err != nil {
		return errors.Join(s.explained(err), s.Close())
	}
	return nil
}

// renew replaces the client behind a transaction that was taken back. Its numbers of records
// have a gap where one was refused, and the broker would take none behind that.
func (s *sender) renew(ctx context.Context) error {
	if err := s.Close(); err != nil {
		return err
	}
	return s.open(ctx)
}

// events takes in what the client says besides what became of records.
func (s *sender) events(all <-chan kafka.Event) {
	for e := range all {
		switch e := e.(type) {
		case kafka.Error:
			switch e.Code() {
			case kafka.ErrTransport, kafka.ErrResolve, kafka.ErrSsl, kafka.ErrAuthentication:
				s.setCause(reason(e.Error()))
			}
			s.logged(e)
		case kafka.OAuthBearerTokenRefresh:
			s.logged(needsTokens)
		}
	}
}

// logged logs an error. The events of a client that was replaced may not have ended.
func (s *sender) logged(e kafka.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.error(e, false)
}

func (s *sender) setCause(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause = text
}

// explained is an error of the client with why no broker answers, where that is the matter.
func (s *sender) explained(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := errors.AsType[kafka.Error](err)
	if ok && s.cause != "" && (e.IsTimeout() || e.Code() == kafka.ErrMsgTimedOut || e.Code() == kafka.ErrTransport) {
		return fmt.Errorf("no broker of %s answers: %s", s.log.brokers, s.cause)
	}
	return err
}

// Send implements [outbox.Sender].
func (s *sender) Send(ctx context.Context, records []outbox.Record) []error {
	s.askAgain(records)
	d := newDispatch(s.client, records)
	if s.transactionalID == "" {
		d.send(ctx, d.chains())
		return s.judge(records, d.errs)
	}
	if err := s.client.BeginTransaction(); err != nil {
		return s.judge(records, d.all(err))
	}
	d.send(ctx, d.together())
	return s.judge(records, s.endTransaction(ctx, d))
}

// askAgain has the client ask for topics that were refused.
func (s *sender) askAgain(records []outbox.Record) {
	for i := range records {
		if topic := records[i].Topic; s.refused[topic] {
			delete(s.refused, topic)
			if _, err := s.client.GetMetadata(&topic, false, int(askTimeout.Milliseconds())); err != nil {
				s.log.Debug("ask for a topic", "topic", topic, "err", err)
			}
		}
	}
}

// judge says what the client's errors mean.
func (s *sender) judge(records []outbox.Record, errs []error) []error {
	for i, err := range errs {
		if err == nil {
			s.setCause("")
		}
		errs[i] = s.judged(err)
		if refused, ok := errs[i].(*outbox.RefusedError); ok && refused.Topic {
			s.refused[records[i].Topic] = true
		}
	}
	return errs
}

func (s *sender) judged(err error) error {
	e, ok := errors.AsType[kafka.Error](err)
	if !ok {
		return err
	}
	if errors.Is(err, outbox.ErrBroken) {
		return fmt.Errorf("%w: %w", outbox.ErrBroken, s.explained(e))
	}
	switch e.Code() {
	case kafka.ErrMsgSizeTooLarge, kafka.ErrRecordListTooLarge, kafka.ErrInvalidMsgSize, kafka.ErrInvalidRecord,
		kafka.ErrInvalidTimestamp, kafka.ErrInvalidArg, kafka.ErrPolicyViolation, kafka.ErrUnsupportedForMessageFormat:
		return &outbox.RefusedError{Err: err}
	case kafka.ErrUnknownTopic, kafka.ErrUnknownTopicOrPart, kafka.ErrTopicException, kafka.ErrTopicAuthorizationFailed:
		return &outbox.RefusedError{Topic: true, Err: err}
	}
	if fatal := s.fatal(); fatal != nil || e.IsFatal() {
		return fmt.Errorf("%w: %w", outbox.ErrBroken, cmp.Or(fatal, err))
	}
	return s.explained(err)
}

// fatal is the error behind which the client does nothing more; nil if there is none.
func (s *sender) fatal() error {
	err := s.client.GetFatalError()
	e, _ := err.(kafka.Error)
	switch e.Code() {
	case kafka.ErrFenced, kafka.ErrInvalidProducerEpoch, kafka.ErrProducerFenced:
		return fmt.Errorf("another sender has begun with TransactionalID %q: %w", s.transactionalID, err)
	}
	return err
}

// Close implements [outbox.Sender]. The client may hang in closing: it is left behind then.
func (s *sender) Close() error {
	if s.lines == nil {
		return nil // it is closed
	}
	if err := s.client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight | kafka.PurgeNonBlocking); err != nil {
		s.log.Debug("purge", "err", err)
	}
	closed := make(chan struct{})
	go func(client *kafka.Producer, lines chan kafka.LogEvent) {
		client.Close()
		close(lines) // the client writes no more
		close(closed)
	}(s.client, s.lines)
	s.lines = nil
	select {
	case <-closed:
		return nil
	case <-time.After(producerClose):
		return fmt.Errorf("confluent: the Kafka client does not close within %v", producerClose)
	}
}
