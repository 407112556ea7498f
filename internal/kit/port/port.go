// Package port finds free TCP ports for servers that must be told theirs, or that start again with
// the same one. A server that can listen on port 0 should do so.
//
// It must not import any other package of this module.
//
// A system gives the ports of its ephemeral range to every connection, and to everybody who
// listens on port 0: one that was free a moment ago need not be so any more. So Free returns ports
// below that range, which is 32768 to 60999 on Linux and begins at 49152 elsewhere.
package port

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

const first, count = 12000, 10000

// Neighbor is how far above a port its second one is: a node of a Redis cluster listens for the
// others there. No port that Free returns is another's second one.
const Neighbor = count

var given sync.Map // ports that Free has returned

// Free returns a port of this machine on which nobody listens, nor on its [Neighbor]. It returns
// none twice in one process.
func Free() (int, error) {
	var last error
	for range 1000 {
		port := first + rand.IntN(count)
		if _, known := given.LoadOrStore(port, true); known {
			continue
		}
		if last = errors.Join(free(port), free(port+Neighbor)); last == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port from %d to %d is free: %w", first, first+count-1, last)
}

// FreeAddr returns an address of this machine with such a port.
func FreeAddr() (string, error) {
	port, err := Free()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

func free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}
