package welcomemail

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// mailServer takes mails. answers are those to the first calls, each at a word of the protocol:
// "RCPT 550" answers so, "TEXT" breaks the connection behind the text, and "DATA" before it.
type mailServer struct {
	mu      sync.Mutex
	calls   int
	mails   []string
	answers []string
}

// listen serves until the test ends, and returns the server's address.
func (s *mailServer) listen(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go s.serve(l)
	return l.Addr().String()
}

func (s *mailServer) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		word, code := "", ""
		if s.calls < len(s.answers) {
			word, code, _ = strings.Cut(s.answers[s.calls], " ")
		}
		s.calls++
		s.mu.Unlock()
		go s.talk(conn, word, code)
	}
}

// talk speaks as much of SMTP as one mail needs.
func (s *mailServer) talk(conn net.Conn, word, code string) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 ready")
	for lines.Scan() {
		verb := strings.ToUpper(strings.Fields(lines.Text() + " .")[0])
		switch {
		case verb == word && code == "":
			return
		case verb == word:
			say(code + " <ann@example.org> is not wanted")
		case verb == "DATA":
			say("354 go on")
			text := ""
			for lines.Scan() && lines.Text() != "." {
				text += lines.Text() + "\n"
			}
			s.mu.Lock()
			s.mails = append(s.mails, text)
			s.mu.Unlock()
			if word == "TEXT" {
				return
			}
			say("250 taken")
		default:
			say("250 yes")
		}
	}
}

// office is a service at work.
type office struct {
	t      *testing.T
	db     *pgxpool.Pool
	redis  *redistest.Server
	server *mailServer
	addr   string
}

func open(t *testing.T, answers ...string) *office {
	t.Helper()
	o := &office{t: t, db: idemtest.DB(t), redis: idemtest.StartRedis(t), server: &mailServer{answers: answers}}
	o.addr = o.server.listen(t)
	idemtest.Migrate(t, o.db, "migrations")
	return o
}

// apply takes the partition over, as a process does that begins, and applies copies of one record.
func (o *office) apply(from int64, copies int) {
	o.t.Helper()
	client := redis.NewClient(&redis.Options{Addr: o.redis.Addr()})
	o.t.Cleanup(func() { _ = client.Close() })
	c, err := NewConsumer(o.db, Service{Server: o.addr, From: "hello@example.com"}, idem.WithLeases(redislease.New(client)), idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		o.t.Fatal(err)
	}
	w, err := idemtest.Own(o.t, c, "users.v1", 0, 0)
	if err != nil {
		o.t.Fatal(err)
	}
	var records []idem.Message
	for i := range copies {
		records = append(records, idem.Message{
			Topic: "users.v1", Offset: from + int64(i), LeaderEpoch: -1, Key: []byte("00000000-0000-4000-8000-000000000001"),
			Headers: []idem.Header{{Name: "event-id", Value: []byte("e-1")}, {Name: "event-type", Value: []byte("user.created")}},
			Value:   []byte(`{"email":"ann@example.org","name":"Ann\r\nB"}`),
		})
	}
	if _, err := w.Apply(o.t.Context(), records); err != nil {
		o.t.Fatal(err)
	}
}

// holds compares calls, mails, rows and the reasons of dead letters.
func (o *office) holds(calls, mails, rows int, letters string) {
	o.t.Helper()
	var gotRows int
	var gotLetters string
	err := o.db.QueryRow(o.t.Context(), `
SELECT (SELECT count(*) FROM mails WHERE message_id LIKE '%@example.com'), (SELECT coalesce(string_agg(reason, '; ' ORDER BY offs), '') FROM idem_dead_letter)`).Scan(&gotRows, &gotLetters)
	if err != nil {
		o.t.Fatal(err)
	}
	o.server.mu.Lock()
	defer o.server.mu.Unlock()
	if o.server.calls != calls || len(o.server.mails) != mails || gotRows != rows || gotLetters != letters {
		o.t.Errorf("%d calls, %d mails, %d rows; dead letters %q", o.server.calls, len(o.server.mails), gotRows, gotLetters)
	}
}

func TestCopiesAreOneMail(t *testing.T) {
	o := open(t)
	o.apply(0, 3)
	o.apply(3, 1)
	o.holds(1, 1, 1, "")
	if text := o.server.mails[0]; !strings.Contains(text, "To: ann@example.org\n") || !strings.HasSuffix(text, "\n\nWelcome, Ann B!\n") {
		t.Errorf("the mail is %q", text)
	}
}

// What breaks before the text is called again: nothing was sent.
func TestWhatBreaksBeforeTheTextIsSentOnce(t *testing.T) {
	o := open(t, "MAIL", "DATA", "RCPT 450")
	o.apply(0, 1)
	o.holds(4, 1, 1, "")
}

// An address that is refused is a dead letter after one call. The server's text, which has the
// address, is not in it.
func TestRefusedAddressIsADeadLetter(t *testing.T) {
	o := open(t, "RCPT 550")
	o.apply(0, 1)
	o.holds(1, 0, 0, "effect: UserCreated: the mail server answers 550")
}

// A server that took the text and did not answer is not asked again, neither for the record nor
// for a copy: a person looks into it.
func TestMailThatWasCutOffIsNotSentAgain(t *testing.T) {
	o := open(t, "TEXT")
	o.apply(0, 1)
	const unknown = "interrupted: UserCreated: the outcome of the call is unknown: the mail server did not say whether it took the mail"
	o.holds(1, 1, 0, unknown)
	o.apply(1, 1)
	o.holds(1, 1, 0, unknown+"; "+unknown)
}
