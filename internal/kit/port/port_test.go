package port

import (
	"net"
	"testing"
)

// Free returns different ports, and no process listens on them. The system does not assign them to
// a listener on port 0.
func TestPortsStayFree(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		addr, err := FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] {
			t.Fatalf("%s was given twice", addr)
		}
		seen[addr] = true
	}
	for range 2000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if seen[l.Addr().String()] {
			t.Errorf("the system gave %s", l.Addr())
		}
		l.Close()
	}
	for addr := range seen {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
}
