package pglease_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// TestLostReplyIsInDoubt: after a lease's transaction whose reply was lost, the pool confirms that
// what may have been committed survives a failover before it gives away a connection.
func TestLostReplyIsInDoubt(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	tables(t, db)
	proxy, through := cutproxy.Pool(t, db)
	s := store(t, through)
	acquire := func(key byte) error {
		_, err := s.Acquire(t.Context(), "test", []lease.Ask{{Key: wire.Key{key}, Owner: wire.UUID{key}, Term: time.Minute, Keep: time.Hour}})
		return err
	}
	if err := acquire(1); err != nil {
		t.Fatal(err)
	}
	lost := proxy.Once(cutproxy.Rule{Direction: cutproxy.Down})
	if err := acquire(2); err == nil {
		t.Fatal("the reply was not lost")
	}
	<-lost
	confirms := proxy.Once(cutproxy.Rule{Direction: cutproxy.Up, Match: []byte("pg_logical_emit_message"), Do: cutproxy.Last})
	if err := acquire(3); err == nil {
		t.Error("a lease was acquired before a commit was confirmed")
	}
	select {
	case <-confirms:
	default:
		t.Error("no commit was confirmed")
	}
}
