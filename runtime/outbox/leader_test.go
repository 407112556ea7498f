package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// One of two relays sends. When it ends, or loses its session, the other one takes over.
func TestOneRelaySends(t *testing.T) {
	db, first, second := database(t), &memory{}, &memory{}
	a, _ := newRelay(db, first)
	b, log := newRelay(db, second)
	stop := start(t, t.Context(), a)
	eventually(t, "the first leads", func() bool { return a.Stats().Leads })
	start(t, t.Context(), b)
	eventually(t, "the second stands by", func() bool { return strings.Contains(log.String(), "stands by") })
	for i := range 5 {
		insert(t, db, "t", "a", fmt.Append(nil, i))
		wantValues(t, first, strings.Fields("0 1 2 3 4")[:i+1]...)
	}
	if n := count(t, db, `
SELECT count(*) FROM pg_stat_activity a JOIN pg_locks l USING (pid)
WHERE a.application_name = 'idemgen relay' AND l.locktype = 'advisory' AND l.granted AND a.datname = current_database()`); n != 1 {
		t.Errorf("%d sessions hold the lock", n) // as docs/operations.md asks
	}
	if second.opens != 0 || b.Stats().Leads || b.Health() != nil {
		t.Errorf("the second: %d senders, %+v, %v", second.opens, b.Stats(), b.Health())
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	insert(t, db, "t", "a", []byte("5"))
	wantValues(t, second, "5")
}

// Who loses the session stops at once what is on its way, although it hears nothing but the end of
// the connection.
func TestLostLockStopsSending(t *testing.T) {
	db := database(t)
	sending, stopped := make(chan struct{}, 10), make(chan struct{}, 10)
	kafka := &memory{answer: func(ctx context.Context, _ Record) error {
		sending <- struct{}{}
		<-ctx.Done()
		stopped <- struct{}{}
		return ctx.Err()
	}}
	insert(t, db, "t", "a", []byte("1"))
	r, _ := newRelay(db, kafka)
	r.pace.heartbeat, r.pace.drain = time.Hour, 10*time.Millisecond
	start(t, t.Context(), r)
	<-sending
	terminate(t, db)
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		t.Error("it goes on")
	}
}

// A Sender that is of no use any more is replaced, at a pace that grows.
func TestBrokenSenderIsReplaced(t *testing.T) {
	db, kafka := database(t), &memory{answer: func(context.Context, Record) error { return fmt.Errorf("%w: fenced", ErrBroken) }}
	insert(t, db, "t", "a", []byte("1"))
	r, log := newRelay(db, kafka)
	start(t, t.Context(), r)
	eventually(t, "three senders were opened", func() bool { kafka.mu.Lock(); defer kafka.mu.Unlock(); return kafka.opens >= 3 })
	time.Sleep(500 * time.Millisecond)
	kafka.set(func() {
		if kafka.opens > 8 || kafka.opens-kafka.closes > 1 {
			t.Errorf("%d senders were opened, %d closed", kafka.opens, kafka.closes)
		}
		kafka.answer = nil
	})
	if err := r.Health(); err == nil || !strings.Contains(err.Error(), "fenced") {
		t.Error(err)
	}
	wantValues(t, kafka, "1")
	eventually(t, "all is well", func() bool { return r.Health() == nil })
	if n := strings.Count(log.String(), "the relay stands"); n != 1 {
		t.Errorf("the log says %d times that it stands:\n%s", n, log)
	}
}

// An outage of Kafka is said once and waited for with pauses that grow.
func TestKafkaOutage(t *testing.T) {
	db, kafka := database(t), &memory{openErr: errors.New("no broker answers")}
	insert(t, db, "t", "a", []byte("1"))
	r, log := newRelay(db, kafka)
	start(t, t.Context(), r)
	says := func(what string) {
		t.Helper()
		eventually(t, "Health says "+what, func() bool { err := r.Health(); return err != nil && strings.Contains(err.Error(), what) })
	}
	says("no record can be sent to Kafka: no broker answers")
	kafka.set(func() {
		kafka.openErr = nil
		kafka.answer = func(context.Context, Record) error { return errors.New("timed out") }
	})
	says("no record can be sent to Kafka: timed out")
	time.Sleep(time.Second)
	if n := kafka.calls(); n < 2 || n > 12 {
		t.Errorf("%d tries within a second", n)
	}
	kafka.set(func() { kafka.answer = nil })
	wantValues(t, kafka, "1")
	eventually(t, "all is well", func() bool { return r.Health() == nil })
	if text := log.String(); strings.Count(text, "the relay stands") != 2 || strings.Count(text, "the relay goes on") != 1 {
		t.Errorf("the log:\n%s", text)
	}
}

// An outage of the database is said once; afterwards everything is sent.
func TestDatabaseOutage(t *testing.T) {
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true, Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db := poolOf(t, server.URL())
	idemtest.Exec(t, db, tableSQL)
	kafka := &memory{}
	r, log := newRelay(db, kafka)
	start(t, t.Context(), r)
	insert(t, db, "t", "a", []byte("1"))
	wantValues(t, kafka, "1")
	eventually(t, "the table is empty", isEmpty(t, db))
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Health says so", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "no connection to the database")
	})
	time.Sleep(500 * time.Millisecond)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all is well", func() bool { return r.Health() == nil })
	db.Reset()
	insert(t, db, "t", "a", []byte("2"))
	wantValues(t, kafka, "1", "2")
	if n := strings.Count(log.String(), "the relay stands"); n < 1 || n > 3 {
		t.Errorf("the log says %d times that it stands:\n%s", n, log)
	}
}
