//go:build unix

package redistest

import (
	"fmt"
	"net"
)

// busPort is how far from its port a server of a Cluster listens for the others.
const busPort = 10000

// freePort returns a port that is free now, and whose bus port is.
func freePort() (int, error) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port > 1<<16-1-busPort {
			continue
		}
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+busPort)); err == nil {
			return port, l.Close()
		}
	}
}
