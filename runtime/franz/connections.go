package franz

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/internal/member"
)

// connections tracks the connections of both clients to brokers, through their hooks.
type connections struct {
	mu    sync.Mutex
	open  int
	cause error // why the last one could not be opened; nil if it could
	alarm bool  // none is open, and one could not be opened; not yet reported
	given int   // how many times in a row a caller stopped waiting for one to be opened
}

// OnBrokerConnect implements [kgo.HookBrokerConnect].
func (c *connections) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given++; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		c.given = 0
	} else if c.given == 1 { // the next attempt shows more
		return
	}
	if c.cause = err; err == nil {
		c.open++
	} else if c.open == 0 {
		c.alarm = true
	}
}

// OnBrokerDisconnect implements [kgo.HookBrokerDisconnect].
func (c *connections) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// allDown reports, once for each attempt, that no broker can be reached, and why.
func (c *connections) allDown() (cause string, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if down, c.alarm = c.alarm && c.open == 0 && c.cause != nil, false; down {
		cause = reason(c.cause)
	}
	return cause, down
}

// why returns why a query failed. If the last connection could not be opened, that is the reason,
// rather than the timeout of the query.
func (c *connections) why(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		err = c.cause
	}
	if errors.Is(err, kerr.SaslAuthenticationFailed) {
		return &member.Denied{Cause: err.Error()}
	}
	return errors.New(reason(err))
}

// reason returns the text of an error without the parts that differ from one attempt to the next,
// such as the port of a connection.
func reason(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Op + " " + op.Addr.String() + ": " + op.Err.Error()
	}
	return err.Error()
}

var (
	_ kgo.HookBrokerConnect    = (*connections)(nil)
	_ kgo.HookBrokerDisconnect = (*connections)(nil)
)
