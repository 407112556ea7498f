package outage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func dial(port int, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port}, Err: err}
}

func TestCausesHaveWords(t *testing.T) {
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	for want, err := range map[string]error{
		"disk full: SQLSTATE 53100":                         fmt.Errorf("send: %w", &pgconn.PgError{Code: "53100", Message: "could not extend file", Detail: "secret"}),
		"too many connections: SQLSTATE 53300":              &pgconn.PgError{Code: "53300"},
		"wrong user or password: SQLSTATE 28P01":            &pgconn.PgError{Code: "28P01", Message: "for user secret"},
		"connection refused (10.0.0.1:5432)":                dial(5432, refused),
		"no answer in time (10.0.0.1:5432)":                 dial(5432, context.DeadlineExceeded),
		"the name db.example does not resolve":              &net.OpError{Op: "dial", Err: &net.DNSError{Name: "db.example", IsNotFound: true}},
		"no name server answers for db.example":             &net.DNSError{Name: "db.example", IsTimeout: true},
		"the connection was lost":                           fmt.Errorf("unexpected: %w", io.ErrUnexpectedEOF),
		"no answer in time":                                 context.DeadlineExceeded,
		"no server listens at the socket (/tmp/.s.PGSQL.5)": &net.OpError{Op: "dial", Addr: &net.UnixAddr{Name: "/tmp/.s.PGSQL.5", Net: "unix"}, Err: syscall.ENOENT},
		"connection refused (10.0.0.1:1); the server is read-only: a standby, or the primary while it fails over": errors.Join(
			dial(1, refused), dial(1, refused), pgconn.ErrReadOnlyConnection),
		"": errors.New("something else"),
	} {
		if got := Words(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Words(&pgconn.PgError{Code: "42P01", Message: "relation does not exist"}); got != "" {
		t.Errorf("words for what is no outage: %q", got)
	}
}

// The local port of a connection differs at each try; the words must not.
func TestWordsAreTheSameAtEachTry(t *testing.T) {
	lost := func(port int) error {
		return &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Addr: &net.TCPAddr{Port: 5432}, Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	if a, b := Words(lost(40001)), Words(lost(40002)); a != b || a != "the connection was lost" {
		t.Errorf("%q and %q", a, b)
	}
}

// Only errors without words of their own are put into words, and keep their cause.
func TestErrorsInWords(t *testing.T) {
	server := &pgconn.PgError{Code: "57P01", Message: "terminating"}
	unreachable := &Unreachable{io.EOF}
	for _, err := range []error{nil, server, fmt.Errorf("send: %w", server), unreachable, errors.New("something else")} {
		if got := InWords(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	for want, err := range map[string]error{
		"the connection was lost":  fmt.Errorf("read: %w", io.EOF),
		"no answer in time":        &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"too many open files":      os.NewSyscallError("socket", syscall.EMFILE),
		"certificate is not":       fmt.Errorf("tls: %w", x509.CertificateInvalidError{Reason: x509.Expired}),
		"certificate is not accep": x509.HostnameError{Certificate: &x509.Certificate{}, Host: "db.example"},
		"server's certificate":     &tls.CertificateVerificationError{Err: errors.New("odd")},
	} {
		if got := InWords(err); !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("%v became %v, want %q", err, got, want)
		}
	}
	for want, err := range map[string]error{
		"wait: the runtime keeps retrying; if it lasts, remove": &MissingRight{Role: "shop", Err: server},
		"end the session that holds the lock":                   &pgconn.PgError{Code: "55P03"},
		"see whether the database runs":                         fmt.Errorf("start: %w", unreachable),
	} {
		if do := ReasonOf(err).Do; !strings.Contains(do, want) {
			t.Errorf("%v: %q, want %q", err, do, want)
		}
	}
}
