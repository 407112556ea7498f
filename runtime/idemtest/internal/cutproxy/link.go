package cutproxy

import (
	"errors"
	"io"
	"net"
	"time"
)

// link is one connection: what comes from ends[Up], the client, goes to ends[Down] and back.
type link struct {
	proxy   *Proxy
	ends    [2]net.Conn
	watches map[*armed]*watch // under the proxy's lock
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
			v := l.judge(d, buffer[:n])
			if !silent {
				if _, err := to.Write(buffer[:v.pass]); err != nil {
					l.reset()
					return
				}
			}
			if v.rule != nil && !v.rule.Hang {
				l.reset()
				return
			}
			hung = v.rule != nil
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

// closeWrite passes on that one side has finished sending; the other may still answer.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}
