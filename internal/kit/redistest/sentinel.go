package redistest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// SentinelMaster is the name under which a Sentinel knows its master.
const SentinelMaster = "idemtest"

// Sentinel is a server with a replica, and a sentinel that makes the replica the master when the
// server is down for a second.
type Sentinel struct {
	Server, Replica *Server
	watcher         *Server
}

// StartSentinel runs them until the test ends.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	s := &Sentinel{}
	t.Cleanup(func() {
		for _, of := range []*Server{s.watcher, s.Replica, s.Server} {
			if of != nil {
				of.Close()
			}
		}
	})
	if err := s.start(t.Context()); err != nil {
		t.Fatalf("idemtest: start Redis behind Sentinel: %v", err)
	}
	return s
}

func (s *Sentinel) start(ctx context.Context) (err error) {
	if s.Server, err = Run(ctx, nil); err != nil {
		return err
	}
	if s.Replica, err = Run(ctx, map[string]string{"replicaof": "127.0.0.1 " + strconv.Itoa(s.Server.port)}); err != nil {
		return err
	}
	s.watcher, err = run(ctx, nil, []string{
		fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 1", SentinelMaster, s.Server.port),
		"sentinel down-after-milliseconds " + SentinelMaster + " 1000",
		"sentinel failover-timeout " + SentinelMaster + " 5000",
	})
	if err != nil {
		return err
	}
	end := time.Now().Add(startTimeout)
	for _, wait := range []struct {
		of             *Server
		question, line string
	}{
		{s.Replica, "INFO replication", "master_link_status:up"},
		{s.watcher, "INFO sentinel", fmt.Sprintf("master0:name=%s,status=ok,address=%s,slaves=1,sentinels=1", SentinelMaster, s.Server.Addr())},
	} {
		for {
			ok, err := wait.of.has(ctx, wait.question, wait.line)
			if ok {
				break
			}
			if time.Now().After(end) {
				return errors.Join(fmt.Errorf("%s does not say %s", wait.of.Addr(), wait.line), err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// Addr is the sentinel's host and port, which clients ask for the master.
func (s *Sentinel) Addr() string { return s.watcher.Addr() }
