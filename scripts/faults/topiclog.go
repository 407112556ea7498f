package main

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// topicLog is the topic of a fault: its broker, and what was produced.
type topicLog struct {
	topic   string
	broker  *idemtest.Broker
	kafka   *cutproxy.Proxy                              // in front of the broker
	next    func(n int) []*wire.Message                  // makes about n records
	put     func(context.Context, []*wire.Message) error // has records made; nil sends them
	shop    *shop.Maker                                  // makes them for the orders example
	onClose []func() error

	making sync.Mutex // of messages
	mu     sync.Mutex
	ends   map[int32]int64 // of the log, by partition
	log    []*wire.Message // what consumers must see, in the order of production
}

func newTopicLog() *topicLog {
	l := &topicLog{shop: shop.New(7, partitions), ends: map[int32]int64{}}
	l.shop.Recent = 40
	l.next = func(n int) []*wire.Message { return events(n)(l.shop) }
	return l
}

// startBroker starts a broker with a proxy in front of it.
func (l *topicLog) startBroker(topic string, kept bool) (err error) {
	l.topic = topic
	o := idemtest.BrokerOptions{Session: session}
	if kept {
		if o.Dir, err = os.MkdirTemp("", "idemgen-broker-"); err != nil {
			return err
		}
		l.onClose = append(l.onClose, func() error { return os.RemoveAll(o.Dir) })
	}
	o.Front = func(address string) (string, error) {
		var err error
		l.kafka, err = cutproxy.New("tcp", address)
		if err != nil {
			return "", err
		}
		return l.kafka.Addr().String(), nil
	}
	l.broker, err = idemtest.StartBrokerWith(map[string]int32{topic: partitions}, o)
	return err
}

func (l *topicLog) close() error {
	var errs []error
	if l.broker != nil {
		l.broker.Close()
	}
	if l.kafka != nil {
		errs = append(errs, l.kafka.Close())
	}
	for _, f := range l.onClose {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
