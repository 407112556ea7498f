package redistest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	masters         = 3
	slots           = 16384
	clusterPatience = time.Minute
)

// Cluster is a Redis Cluster of three masters with a replica each. A master that is down is
// replaced within seconds.
type Cluster struct{ Servers []*Server }

// StartCluster runs a Cluster until the test ends.
func StartCluster(t testing.TB) *Cluster {
	t.Helper()
	c, err := RunCluster(t.Context())
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// RunCluster is [StartCluster] for a program that is not a test, until Close. ctx limits only the
// start.
func RunCluster(ctx context.Context) (_ *Cluster, err error) {
	c := &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("start a Redis Cluster: %w", err), c.Close())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, clusterPatience)
	defer cancel()
	for range 2 * masters {
		s, err := Run(ctx, map[string]string{
			"cluster-enabled": "yes", "cluster-node-timeout": "1500", "cluster-replica-validity-factor": "0", "repl-diskless-sync": "no",
		})
		if err != nil {
			return nil, err
		}
		c.Servers = append(c.Servers, s)
	}
	return c, c.join(ctx)
}

// join makes one Cluster of the servers.
func (c *Cluster) join(ctx context.Context) error {
	for i, s := range c.Servers {
		if _, err := s.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
		if i < masters {
			own := []string{"CLUSTER", "ADDSLOTS"}
			for n := i * slots / masters; n < (i+1)*slots/masters; n++ {
				own = append(own, strconv.Itoa(n))
			}
			if _, err := s.Do(ctx, own...); err != nil {
				return err
			}
		}
		if _, err := s.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(c.Servers[0].port)); err != nil {
			return err
		}
	}
	if err := c.until(ctx, func(s *Server) (bool, error) { return s.has(ctx, "CLUSTER INFO", "cluster_known_nodes:6") }); err != nil {
		return err
	}
	for i, s := range c.Servers[masters:] {
		id, err := c.Servers[i].Do(ctx, "CLUSTER", "MYID")
		if err != nil {
			return err
		}
		if _, err := s.Do(ctx, "CLUSTER", "REPLICATE", fmt.Sprint(id)); err != nil {
			return err
		}
	}
	return c.Whole(ctx)
}

// Whole waits until all slots are served, and every server that runs and is no master follows one.
func (c *Cluster) Whole(ctx context.Context) error {
	return c.until(ctx, func(s *Server) (bool, error) {
		if ok, err := s.has(ctx, "CLUSTER INFO", "cluster_state:ok"); !ok {
			return false, err
		}
		if master, err := s.has(ctx, "INFO replication", "role:master"); master || err != nil {
			return master, err
		}
		return s.has(ctx, "INFO replication", "master_link_status:up")
	})
}

// until waits until every server that runs is so.
func (c *Cluster) until(ctx context.Context, is func(*Server) (bool, error)) error {
	for _, s := range c.Servers {
		for !s.program.Ended() {
			ok, err := is(s)
			if ok {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s of the Cluster is not ready: %w", s.Addr(), errors.Join(ctx.Err(), err))
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// has asks for a report, and says whether a line is in it.
func (s *Server) has(ctx context.Context, question, line string) (bool, error) {
	text, err := s.Do(ctx, strings.Fields(question)...)
	if err != nil {
		return false, err
	}
	report, _ := text.(string)
	return slices.Contains(strings.Fields(report), line), nil
}

// Addrs are hosts and ports of the servers.
func (c *Cluster) Addrs() (all []string) {
	for _, s := range c.Servers {
		all = append(all, s.Addr())
	}
	return all
}

// MasterOf is the server that serves a key. It waits until there is one, that is not down.
func (c *Cluster) MasterOf(ctx context.Context, key string) (*Server, error) {
	for {
		for _, s := range c.Servers {
			if s.program.Ended() {
				continue
			}
			// A server that has not the key's slot says MOVED, or that the Cluster is down.
			if _, err := s.Do(ctx, "EXISTS", key); err == nil {
				return s, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no server of the Cluster has %s: %w", key, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close ends all servers and removes what they kept.
func (c *Cluster) Close() (err error) {
	for _, s := range c.Servers {
		err = errors.Join(err, s.Close())
	}
	return err
}
