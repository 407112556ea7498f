package session_test

import (
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/idemgen/idemgen/runtime/internal/session"
)

// endsSession is a server that takes a session, and ends it in the middle of the first answer.
func endsSession(c net.Conn, answer []pgproto3.BackendMessage) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if b.Flush() != nil {
		return
	}
	for synced := false; !synced; {
		m, err := b.Receive()
		if err != nil {
			return
		}
		if _, ok := m.(*pgproto3.Sync); ok {
			synced = true
		}
	}
	for _, m := range answer {
		b.Send(m)
	}
	b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01"})
	_ = b.Flush()
}

// A server that ends the session while it is given settings is told as an error, and not asked
// for ever, wherever its answer ends.
func TestAServerThatEndsTheSessionIsNotAskedAgain(t *testing.T) {
	answer := []pgproto3.BackendMessage{
		&pgproto3.ParseComplete{}, &pgproto3.BindComplete{}, &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("set_config"), DataTypeOID: 25}}},
		&pgproto3.DataRow{Values: [][]byte{[]byte("1")}}, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")},
	}
	for n := range len(answer) + 1 {
		ended := make(chan error, 1)
		conn := connected(t, answer[:n])
		go func() {
			ended <- session.GiveBest(t.Context(), conn, []session.Setting{{Name: "a.b", Value: "1"}})
		}()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("after %d messages: the settings were taken", n)
			}
		case <-time.After(time.Minute):
			t.Fatalf("after %d messages it still asks", n)
		}
	}
}

// connected is a session with a server that ends it after an answer.
func connected(t *testing.T, answer []pgproto3.BackendMessage) *pgconn.PgConn {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = at.Close() })
	go func() {
		if c, err := at.Accept(); err == nil {
			endsSession(c, answer)
		}
	}()
	conn, err := pgconn.Connect(t.Context(), "postgres://u@"+at.Addr().String()+"/d?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
