package outage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// states describes SQLSTATEs for operators.
var states = map[string]string{
	"08000": "the connection was lost",
	"08001": "the connection was refused",
	"08003": "the connection was lost",
	"08004": "the server rejected the connection",
	"08006": "the connection was lost",
	"21000": "a statement would change a row twice, or a subquery returned several rows",
	"22001": "a text is too long for its type",
	"22003": "a number is out of range",
	"22007": "a text is not a valid date or time",
	"22008": "a date or time is out of range",
	"22012": "division by zero",
	"22021": "a text is not valid in its encoding",
	"22P02": "a text is not a valid value of its type",
	"23502": "NULL where none is allowed",
	"23503": "the referenced row is missing, or other rows reference this one",
	"23505": "the key exists already",
	"23514": "a check is violated",
	"23P01": "an exclusion constraint is violated",
	"2200H": "a sequence is exhausted",
	"25006": "the server is read-only: a standby, or the primary while it fails over",
	"25P03": "the transaction was idle for too long",
	"25P04": "the transaction took too long",
	"28000": "the server does not admit this user from here (pg_hba.conf, or the role may not log in)",
	"28P01": "wrong user or password",
	"3D000": "the database does not exist",
	"40001": "another transaction wrote the same rows",
	"40P01": "deadlock",
	"53100": "disk full",
	"53200": "the server is out of memory",
	"53300": "too many connections",
	"53400": "a limit of the server's configuration was reached",
	"54023": "too many arguments for this server",
	"55P03": "a lock was not acquired in time",
	"57014": "the statement took too long, or was canceled",
	"57P01": "the server is shutting down, or an administrator ended the connection",
	"57P02": "the server crashed",
	"57P03": "the database is starting up or shutting down",
	"57P04": "the database was dropped",
	"57P05": "the connection was idle for too long",
	"58000": "the server's system failed",
	"58030": "the server could not read or write a file",
}

// State describes an SQLSTATE in words; "" if it has no entry.
func State(code string) string { return states[code] }

// numbers describes errors of the operating system.
var numbers = []struct {
	number syscall.Errno
	words  string
}{
	{syscall.ECONNREFUSED, "connection refused"},
	{syscall.ENOENT, "no server listens at the socket"},
	{syscall.EHOSTUNREACH, "no route to the host"},
	{syscall.ENETUNREACH, "no route to the network"},
	{syscall.ECONNRESET, "the connection was lost"},
	{syscall.EPIPE, "the connection was lost"},
	{syscall.ETIMEDOUT, "no answer in time"},
	{syscall.EMFILE, "this process has too many open files"},
}

// Words describes why the database cannot be used. The same cause has the same words: ports and
// times that differ between two attempts are left out, and so is everything that may quote values.
// Each address that was tried is named once. Words returns "" if it has no words for err.
func Words(err error) string {
	var found []string
	walk(err, "", func(words, address string) {
		if address != "" {
			words += " (" + address + ")"
		}
		if !slices.Contains(found, words) {
			found = append(found, words)
		}
	})
	return strings.Join(found, "; ")
}

// walk calls say for each cause in a tree of errors. address is the address in the nearest
// enclosing error.
func walk(err error, address string, say func(words, address string)) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			walk(e, address, say)
		}
		return
	}
	if dial, ok := err.(*net.OpError); ok && dial.Op == "dial" && dial.Addr != nil {
		address = dial.Addr.String()
	}
	if words := own(err); words != "" {
		say(words, address)
		return
	}
	if inner := errors.Unwrap(err); inner != nil {
		walk(inner, address, say)
	}
}

// own returns the words for an error itself, not for one that it wraps.
func own(err error) string {
	switch e := err.(type) {
	case *pgconn.PgError:
		if words := State(e.Code); words != "" {
			return words + ": SQLSTATE " + e.Code
		}
	case *net.DNSError:
		if e.IsNotFound {
			return "the name " + e.Name + " does not resolve"
		}
		return "no name server answers for " + e.Name
	case *tls.CertificateVerificationError, x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError:
		return "the server's certificate is not accepted: " + err.Error()
	case syscall.Errno:
		for _, n := range numbers {
			if e == n.number {
				return n.words
			}
		}
		return e.Error()
	case net.Error: // if it wraps another error, that one says more
		if errors.Unwrap(err) == nil && e.Timeout() {
			return "no answer in time"
		}
	}
	switch err {
	case io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, pgconn.ErrConnClosed:
		return "the connection was lost"
	case context.DeadlineExceeded:
		return "no answer in time"
	case pgconn.ErrReadOnlyConnection:
		return State("25006")
	}
	return ""
}

// InWords converts an error of a lost connection, or a timeout, into one whose words are the same
// for the next attempt. It returns any other error unchanged, including errors of the database
// itself and an [Unreachable], which already is in words.
func InWords(err error) error {
	if _, worded := errors.AsType[*Unreachable](err); worded {
		return err
	}
	if _, told := errors.AsType[*pgconn.PgError](err); told || err == nil {
		return err
	}
	if words := Words(err); words != "" {
		return &worded{words, err}
	}
	return err
}

type worded struct {
	words string
	error
}

func (e *worded) Error() string { return e.words }
func (e *worded) Unwrap() error { return e.error }
