package outage

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A part of a password that was mistyped into the user or a setting of the address is not told.
func TestUnreachableDoesNotQuoteTheAddress(t *testing.T) {
	cfg, err := pgconn.ParseConfig("host=127.0.0.1 port=1 user=admin:hunter2 dbname=d password=x sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	for want, cause := range map[string]error{
		"wrong user or password: SQLSTATE 28P01":             &pgconn.PgError{Code: "28P01", Message: `for user "admin:hunter2"`},
		"the server rejected the connection: SQLSTATE 22023": &pgconn.PgError{Code: "22023", Message: `invalid value: "hunter2"`},
		"odd": errors.New("odd"),
	} {
		cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return nil, cause }
		_, err := pgconn.ConnectConfig(t.Context(), cfg)
		for _, told := range []error{&Unreachable{err}, WithoutAddress(err)} {
			if text := told.Error(); strings.Contains(text, "hunter2") || !strings.Contains(text, want) || !errors.Is(told, cause) {
				t.Errorf("got %q, want %q", text, want)
			}
		}
	}
}
