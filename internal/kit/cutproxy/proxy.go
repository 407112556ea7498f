// Package cutproxy is a TCP proxy for fault tests: it delays, silences or cuts connections, also
// at the moment that decides, such as after the server has committed and before its answer
// arrives. It reads the bytes, so the connections must not use TLS.
//
// It must not import any other package of this module.
package cutproxy

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Direction is one of the two ways through the proxy.
type Direction int

const (
	Up   Direction = iota // from the client to the server
	Down                  // from the server to the client
)

// Proxy forwards connections to one server.
type Proxy struct {
	listener net.Listener
	network  string
	running  sync.WaitGroup

	mu     sync.Mutex
	target string
	links  map[*link]struct{}
	rules  []*armed // not fired yet, in the order of Once
	delay  [2]time.Duration
	silent [2]bool
	hold   chan struct{} // closed by Release
	refuse bool
	closed bool
}

// New listens on a free port of 127.0.0.1 and forwards to the server at target; network is tcp
// or unix.
func New(network, target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, network: network, target: target, links: map[*link]struct{}{}, hold: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where clients connect to.
func (p *Proxy) Addr() *net.TCPAddr { return p.listener.Addr().(*net.TCPAddr) }

// Delay makes every chunk of a direction wait, in open and new connections. 0 ends it.
func (p *Proxy) Delay(d Direction, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay[d] = wait
}

// Silence swallows everything of a direction, in open and new connections, which stay
// open. What was swallowed is lost when it ends.
func (p *Proxy) Silence(d Direction, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent[d] = on
}

// Refuse resets every open connection and each new one, as a server does that is down.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	p.refuse = on
	p.mu.Unlock()
	if on {
		p.CutAll()
	}
}

// Release lets the connections go on that a rule holds; what they held arrives now.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.hold)
	p.hold = make(chan struct{})
}

func (p *Proxy) holding() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hold
}

// CutAll resets every open connection.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Close stops listening, resets every connection and waits until they have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.CutAll()
	p.Release()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // such as too many open files
			continue
		}
		p.running.Go(func() { p.connect(client) })
	}
}

// connect forwards one connection until it has ended in both directions.
func (p *Proxy) connect(client net.Conn) {
	server, err := net.Dial(p.network, p.aim())
	if err != nil {
		reset(client)
		return
	}
	l := &link{proxy: p, ends: [2]net.Conn{Up: client, Down: server}, progress: map[*armed]*progress{}}
	p.mu.Lock()
	if p.closed || p.refuse {
		l.reset()
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.forward(Up) })
	both.Go(func() { l.forward(Down) })
	both.Wait()
	client.Close()
	server.Close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// Lead leads connections from now on to another server; those that are open stay.
func (p *Proxy) Lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

func (p *Proxy) aim() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// weather is what every chunk of a direction meets.
func (p *Proxy) weather(d Direction) (wait time.Duration, silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay[d], p.silent[d]
}

// reset closes with RST, as a host does that knows nothing of the connection.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
