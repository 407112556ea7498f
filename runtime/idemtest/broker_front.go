package idemtest

import (
	"context"
	"net"
)

// listen makes the broker listen at one address and tell its clients another.
func (b *Broker) listen(front func(string) (string, error)) func(network, address string) (net.Listener, error) {
	return func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		if err != nil {
			return nil, err
		}
		b.address = l.Addr().String()
		told, err := front(b.address)
		if err != nil {
			l.Close()
			return nil, err
		}
		a, err := net.ResolveTCPAddr(network, told)
		if err != nil {
			l.Close()
			return nil, err
		}
		return &fronted{l, a}, nil
	}
}

// fronted is a listener that gives another address as its own.
type fronted struct {
	net.Listener
	told net.Addr
}

// Addr implements net.Listener.
func (f *fronted) Addr() net.Addr { return f.told }

// dial is how the kit's own clients reach the broker, whatever address they were told.
func (b *Broker) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, b.address)
}
