package clientlog

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

// Connections tracks the connections of clients to brokers, through their hooks.
type Connections struct {
	mu    sync.Mutex
	open  int
	cause error // what kept the last one from being used; nil if nothing did

	closed *refusal.Closed // the broker closed a connection when the client read last; nil if it did not
	alarm  bool            // none is open, and one could not be opened; not yet reported
	given  int             // how many times in a row a caller stopped waiting for one to be opened
}

// OnBrokerConnect implements [kgo.HookBrokerConnect]. conn is not nil if only the first requests
// failed; then the connection was reported as disconnected before.
func (c *Connections) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, conn net.Conn, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn != nil {
		c.open++
	}
	if c.given++; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		c.given = 0
	} else if c.given == 1 { // the next attempt shows more
		return
	}
	if c.cause = nil; err == nil {
		return
	}
	if c.cause = judge(err, conn == nil); c.cause == refusal.Later && c.closed != nil {
		c.cause = c.closed
	}
	c.alarm = c.alarm || c.open == 0
}

// OnBrokerDisconnect implements [kgo.HookBrokerDisconnect].
func (c *Connections) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// OnBrokerRead implements [kgo.HookBrokerRead]. A broker that closes the connection after it read
// the credentials most likely rejects them.
func (c *Connections) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !errors.Is(err, io.EOF):
		c.closed = nil
	case key == int16(kmsg.SASLAuthenticate):
		c.closed = refusal.InSASL
	default:
		c.closed = refusal.Later
	}
}

// AllDown reports, once for each attempt, that no broker can be reached, and why.
func (c *Connections) AllDown() (cause error, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	down, c.alarm = c.alarm && c.open == 0 && c.cause != nil, false
	return c.cause, down
}

// Why returns why a query failed. If the last connection could not be opened, that is the reason,
// rather than the timeout of the query.
func (c *Connections) Why(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	return judge(err, false)
}

// Cause returns what kept the last connection from being used, or ended it; nil if nothing did.
func (c *Connections) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil && c.closed != nil {
		return c.closed
	}
	return c.cause
}

// judge returns what an error of a connection means. dial is true if it could not be opened,
// which includes the TLS handshake.
func judge(err error, dial bool) error {
	closed := errors.Is(err, io.EOF)
	op, _ := errors.AsType[*net.OpError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, kerr.UnsupportedSaslMechanism):
		return &refusal.Denied{Code: refusal.Credentials, Cause: err.Error()}
	case dial && (closed || op != nil && op.Op == "read"), noTLS:
		return refusal.InHandshake
	case unverified, alert, op != nil && op.Op == "remote error":
		return &refusal.Denied{Code: refusal.TLS, Cause: err.Error()}
	case closed && strings.Contains(err.Error(), "requires TLS"), strings.Contains(err.Error(), "tls alert record"):
		return refusal.AtFirst
	case closed:
		return refusal.Later
	}
	return errors.New(reason(err))
}

// reason returns the text of an error without the parts that differ from one attempt to the next,
// such as the port of a connection.
func reason(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil && op.Addr != nil {
		return op.Op + " " + op.Addr.String() + ": " + op.Err.Error()
	}
	return err.Error()
}

var (
	_ kgo.HookBrokerConnect    = (*Connections)(nil)
	_ kgo.HookBrokerDisconnect = (*Connections)(nil)
	_ kgo.HookBrokerRead       = (*Connections)(nil)
)
