package clientlog

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// That no broker can be reached is told if none is, and once for each try.
func TestAllBrokersAreDownIfNoneIsOpen(t *testing.T) {
	t.Parallel()
	c := &Connections{}
	meta, refused := kgo.BrokerMetadata{}, &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}, Err: errors.New("refused")}
	open := func() { c.OnBrokerConnect(meta, time.Second, new(net.TCPConn), nil) }
	fail := func() { c.OnBrokerConnect(meta, time.Second, nil, refused) }
	down := func(want bool) {
		t.Helper()
		if cause, got := c.AllDown(); got != want || got && cause.Error() != "dial 127.0.0.1:9: refused" {
			t.Errorf("all down: %v, %v", got, cause)
		}
	}
	down(false)
	fail()
	down(true)
	down(false) // that was told
	open()
	fail()
	down(false)                     // another one is open
	c.OnBrokerDisconnect(meta, nil) // of one that is opened, and whose first request fails
	c.OnBrokerConnect(meta, time.Second, new(net.TCPConn), refused)
	down(false)
	open()
	if err := c.Why(errTime); err.Error() != errTime.Error() {
		t.Errorf("a question fails for %v", err)
	}
	c.OnBrokerDisconnect(meta, nil)
	c.OnBrokerDisconnect(meta, nil)
	fail()
	down(true)
	if err := c.Why(errTime); err.Error() != "dial 127.0.0.1:9: refused" {
		t.Errorf("a question fails for %v", err)
	}
}

var errTime = errors.New("the time is over")
