package cutproxy

import (
	"errors"
	"io"
	"net"
	"time"
)

// link is one connection: what comes from ends[Up], the client, goes to ends[Down] and back.
type link struct {
	proxy    *Proxy
	ends     [2]net.Conn
	progress map[*armed]*progress // under the proxy's lock
}

func (l *link) reset() {
	reset(l.ends[Up])
	reset(l.ends[Down])
}

// forward copies one direction until it ends.
func (l *link) forward(d Direction) {
	from, to := l.ends[d], l.ends[1-d]
	buffer := make([]byte, 32<<10)
	hung := false
	for {
		n, err := from.Read(buffer)
		if n > 0 && !hung {
			wait, silent := l.proxy.weather(d)
			time.Sleep(wait)
			v := l.match(d, buffer[:n])
			if err := l.deliver(to, buffer[:n], v, silent); err != nil {
				l.reset()
				return
			}
			hung = v.rule != nil && v.rule.Do == Hang
		}
		if errors.Is(err, io.EOF) && !hung {
			closeWrite(to)
			return
		}
		if err != nil {
			l.reset()
			return
		}
	}
}

// errReset says that the rule of a verdict ends the connection.
var errReset = errors.New("reset by a rule")

// deliver passes a chunk on as far as the verdict lets it, and does what its rule says.
func (l *link) deliver(to net.Conn, chunk []byte, v verdict, silent bool) error {
	write := func(b []byte) error {
		if silent {
			return nil
		}
		_, err := to.Write(b)
		return err
	}
	if err := write(chunk[:v.pass]); err != nil || v.rule == nil {
		return err
	}
	switch v.rule.Do {
	case Reset:
		return errReset
	case Hold:
		<-l.proxy.holding()
	case Flip:
		chunk[v.pass] ^= 1
	case Hang:
		return nil
	case Last:
		return errors.Join(write(chunk[v.pass:]), errReset)
	}
	return write(chunk[v.pass:])
}

// closeWrite passes on that one side has finished sending; the other may still answer.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
