package operate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/operate"
)

// Operators are told what an error of the database means for them. The error stays in the chain,
// and others stay as they are.
func TestErrorsAreExplained(t *testing.T) {
	const lost = "the connection to the database was lost; before you repeat a change, see whether it was made: "
	for _, c := range []struct {
		err  error
		want string // before the error
	}{
		{pgconn.ErrConnClosed, lost}, {io.EOF, lost}, {io.ErrUnexpectedEOF, lost}, {net.ErrClosed, lost},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, lost},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, lost},
		{&pgconn.PgError{Code: "42P01"}, "this database lacks the runtime's tables, or has another version of them: is it the service's database? ("},
		{&pgconn.PgError{Code: "42501"}, "the database role may not do this; docs/operations.md lists the rights that it needs: "},
		{&pgconn.PgError{Code: "25006"}, "this is a standby: connect to the primary: "},
		{&pgconn.PgError{Code: "22003"}, ""}, {context.Canceled, ""}, {pgx.ErrNoRows, ""},
	} {
		err := fmt.Errorf("list streams: %w", c.err)
		got := operate.Explain(err)
		want := c.want + err.Error() + strings.Repeat(")", strings.Count(c.want, "("))
		if !errors.Is(got, c.err) || got.Error() != want {
			t.Errorf("%v\nwant\n%s", got, want)
		}
	}
	if operate.Explain(nil) != nil {
		t.Error("no error is explained")
	}
}
