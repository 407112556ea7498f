package idemtest

import (
	"context"
	"errors"
	"net"
)

// listen makes the broker listen, at the same address each time, and advertise the address of the
// front if there is one.
func (b *Broker) listen(network, _ string) (net.Listener, error) {
	l, err := net.Listen(network, b.address)
	if err != nil {
		return nil, err
	}
	if b.told == nil {
		b.address = l.Addr().String()
		if b.told, err = b.front(l.Addr()); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return &fronted{l, b.told}, nil
}

// front returns the address that clients use.
func (b *Broker) front(own net.Addr) (net.Addr, error) {
	if b.options.Front == nil {
		return own, nil
	}
	told, err := b.options.Front(own.String())
	if err != nil {
		return nil, err
	}
	return net.ResolveTCPAddr(own.Network(), told)
}

// fronted is a listener that reports another address as its own.
type fronted struct {
	net.Listener
	told net.Addr
}

// Addr implements net.Listener.
func (f *fronted) Addr() net.Addr { return f.told }

// dial connects the kit's own clients to the broker, whatever address it advertises.
func (b *Broker) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, b.address)
}
