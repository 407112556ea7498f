package engine_test

import (
	"context"
	"encoding/binary"
	"iter"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// backend is a session of the server. When its client is gone it is used again, as a pooler does:
// to open one takes longer than a whole schedule.
type backend struct {
	net.Conn
	hello  []byte // what a client is told when it connects
	pid    uint32
	link   *link // nil while nobody uses it
	status byte  // I: no transaction is open
	owed   int   // requests that are not answered completely
	ended  bool
}

// open opens a backend.
func (n *network) open() (*backend, error) {
	c, err := pgconn.ConnectConfig(context.Background(), &n.db.Config().ConnConfig.Config)
	if err != nil {
		return nil, err
	}
	h, err := c.Hijack()
	if err != nil {
		return nil, err
	}
	s := &backend{Conn: h.Conn, pid: h.PID, status: 'I'}
	hello := []pgproto3.BackendMessage{&pgproto3.AuthenticationOk{}, &pgproto3.BackendKeyData{ProcessID: h.PID, SecretKey: h.SecretKey}}
	for name, value := range h.ParameterStatuses {
		hello = append(hello, &pgproto3.ParameterStatus{Name: name, Value: value})
	}
	for _, m := range append(hello, &pgproto3.ReadyForQuery{TxStatus: 'I'}) {
		if s.hello, err = m.Encode(s.hello); err != nil {
			return nil, err
		}
	}
	go n.listen(s)
	return s, nil
}

func (s *backend) send(b []byte) error {
	for m := range messages(b) {
		if m[0] == 'S' || m[0] == 'Q' {
			s.owed++
		}
	}
	_, err := s.Write(b)
	return err
}

// simple is the request of a simple query.
func simple(sql string) []byte {
	b, _ := (&pgproto3.Query{String: sql}).Encode(nil)
	return b
}

// listen takes what the server answers.
func (n *network) listen(s *backend) {
	var b []byte
	buffer := make([]byte, 64<<10)
	for !s.ended {
		got, err := s.Read(buffer)
		b = append(b, buffer[:got]...)
		n.mu.Lock()
		done := 0
		for m := range messages(b) {
			done += len(m)
			if m[0] == 'Z' {
				s.status = m[5]
				s.owed--
			}
			if l := s.link; l != nil && l.user != nil {
				l.answer = append(l.answer, m...)
			} else if l != nil {
				l.inbox = append(l.inbox, m...)
			}
		}
		b = b[done:]
		if s.ended = err != nil; s.ended {
			s.owed = 0
		}
		n.changed.Broadcast()
		n.mu.Unlock()
	}
}

// statement is a statement that a request executes.
type statement struct{ name, sql string }

// inShort are statements for people.
func inShort(all []statement) string {
	var texts []string
	for _, x := range all {
		text := strings.Join(strings.Fields(x.sql), " ")
		text = text[:min(len(text), 40)]
		if parts := strings.SplitN(x.name, "_", 4); parts[0] == "idem" {
			text = parts[3]
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// statements are the statements of a request, as far as they are executed.
func (n *network) statements(b []byte) (all []statement) {
	var last string // of the unnamed one
	for m := range messages(b) {
		first, rest, _ := strings.Cut(string(m[5:]), "\x00")
		second, _, _ := strings.Cut(rest, "\x00")
		switch {
		case m[0] == 'P' && first != "":
			n.texts[first] = second
		case m[0] == 'P':
			last = second
		case m[0] == 'B' && second != "":
			all = append(all, statement{second, n.texts[second]})
		case m[0] == 'B':
			all = append(all, statement{"", last})
		case m[0] == 'Q':
			all = append(all, statement{"", first})
		}
	}
	return all
}

// messages are the messages that b begins with, as far as they are complete.
func messages(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(b) >= 5 {
			n := 1 + int(binary.BigEndian.Uint32(b[1:]))
			if len(b) < n || !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}
