package franz

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

	"github.com/idemgen/idemgen/runtime/internal/member"
)

// connections tracks the connections of both clients to brokers, through their hooks.
type connections struct {
	mu    sync.Mutex
	open  int
	cause error // what kept the last one from being used; nil if nothing did
	login error // the broker closed the last one during authentication; nil if it did not
	alarm bool  // none is open, and one could not be opened; not yet reported
	given int   // how many times in a row a caller stopped waiting for one to be opened
}

// OnBrokerConnect implements [kgo.HookBrokerConnect]. conn is not nil if only the first requests
// failed; then the connection was reported as disconnected before.
func (c *connections) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, conn net.Conn, err error) {
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
	if c.cause = judge(err, conn == nil); c.login != nil && errors.Is(err, io.EOF) {
		c.cause = c.login
	}
	c.alarm = c.alarm || c.open == 0
}

// OnBrokerDisconnect implements [kgo.HookBrokerDisconnect].
func (c *connections) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// OnBrokerRead implements [kgo.HookBrokerRead]. A broker that closes the connection after it read
// the credentials most likely rejects them.
func (c *connections) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if key != int16(kmsg.SASLAuthenticate) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.login = nil
	if errors.Is(err, io.EOF) {
		c.login = member.InSASL
	}
}

// allDown reports, once for each attempt, that no broker can be reached, and why.
func (c *connections) allDown() (cause error, down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	down, c.alarm = c.alarm && c.open == 0 && c.cause != nil, false
	return c.cause, down
}

// why returns why a query failed. If the last connection could not be opened, that is the reason,
// rather than the timeout of the query.
func (c *connections) why(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return c.cause
	}
	return judge(err, false)
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
		return &member.Denied{Code: member.Credentials, Cause: err.Error()}
	case dial && (closed || op != nil && op.Op == "read"), noTLS:
		return member.InHandshake
	case unverified, alert, op != nil && op.Op == "remote error":
		return &member.Denied{Code: member.TLS, Cause: err.Error()}
	case closed && strings.Contains(err.Error(), "requires TLS"):
		return member.AtFirst
	case closed:
		return member.Later
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
	_ kgo.HookBrokerConnect    = (*connections)(nil)
	_ kgo.HookBrokerDisconnect = (*connections)(nil)
	_ kgo.HookBrokerRead       = (*connections)(nil)
)
