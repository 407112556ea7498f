package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// Connect opens connections to the primary.
func Connect(ctx context.Context, stderr io.Writer, flag, url string) (*pgxpool.Pool, error) {
	return ConnectTo(ctx, stderr, flag, url, pgconn.ValidateConnectTargetSessionAttrsReadWrite)
}

// ConnectTo opens connections to a server that right takes; nil takes a standby as well. It
// returns an error if somebody planted functions or operators for the statements of commands. A
// statement that waits for a lock is reported on stderr.
func ConnectTo(ctx context.Context, stderr io.Writer, flag, url string, right pgconn.ValidateConnectFunc) (*pgxpool.Pool, error) {
	tell := func(l *operate.Lock) (giveUp bool) {
		fmt.Fprintln(stderr, l)
		return false
	}
	return OpenPool(ctx, flag, url, right, tell, func(ctx context.Context, conn *pgx.Conn) error {
		planted, err := pgtable.Planted(ctx, conn)
		if err == nil && planted != nil {
			err = planted.Err()
		}
		return err
	})
}

// OpenPool opens connections, and checks each unless check is nil. flag is where the address was
// given, if not in the environment. They are named differently than a worker's, so no worker ends
// one of them as a stalled one of its own. waits takes what a statement waits for: see lockWatch.
func OpenPool(ctx context.Context, flag, url string, right pgconn.ValidateConnectFunc, waits func(*operate.Lock) bool,
	check func(context.Context, *pgx.Conn) error) (*pgxpool.Pool, error) {
	from := flag
	if url == "" {
		url, from = os.Getenv("DATABASE_URL"), "$DATABASE_URL"
	}
	if url == "" {
		return nil, fmt.Errorf("%s or $DATABASE_URL missing: set DATABASE_URL to postgres://user:password@host:5432/name (other users of the machine see arguments: %s is for an address without a password)", flag, flag)
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err == nil && strings.LastIndexByte(cfg.ConnConfig.Host, '@') > 0 { // of a password
		return nil, errors.New(flag + ", or $DATABASE_URL: a password with an @ must have %40 in its place")
	}
	if err != nil { // not told: it may quote the password
		return nil, errors.New(flag + ", or $DATABASE_URL, is not the address of a database: write postgres://user@host:5432/name")
	}
	cfg.MaxConns = 1
	cfg.ConnConfig.RuntimeParams["application_name"] = "idemgen-stream"
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // a connection pooler may stand between
	cfg.ConnConfig.ValidateConnect, cfg.AfterConnect = right, check
	cfg.ConnConfig.Tracer = &lockWatch{cfg.ConnConfig.Copy(), waits}
	db, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, MaskConnect(err)
	}
	if err := db.Ping(ctx); err != nil {
		db.Close()
		return nil, MaskConnect(fmt.Errorf("connect to the database that %s names: %w", from, err))
	}
	return db, nil
}

// MaskConnect takes the user and the database out of an error of connecting: of an address that
// was mistyped, one of them may hold a part of the password. A server that was reached quotes
// them, and settings of the address, too: of its answer only the SQLSTATE is told. The driver
// prints the password nowhere, so nothing else of the text is touched: a password may be a word
// of it.
func MaskConnect(err error) error {
	connecting, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return err
	}
	before, _, found := strings.Cut(err.Error(), connecting.Error())
	if !found {
		before = ""
	}
	cause := connecting.Unwrap()
	if pg, answered := errors.AsType[*pgconn.PgError](cause); answered {
		cause = fmt.Errorf("%s: SQLSTATE %s", cmp.Or(refusals[pg.Code], "the server rejected the connection"), pg.Code)
	}
	return fmt.Errorf("%sfailed to connect: %w", before, &once{cause})
}

// once says each line of an error once: the driver tries an address with TLS and without, and
// joins what came of it.
type once struct{ error }

func (e *once) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

func (e *once) Unwrap() error { return e.error }

// refusals say why a server lets nobody in, as far as its SQLSTATE tells.
var refusals = map[string]string{
	"22023": "the server rejected a setting of the address",
	"42704": "the server rejected a setting of the address",
	"28P01": "wrong user or password",
	"28000": "the server does not admit this user from here (pg_hba.conf, or the role may not log in)",
	"3D000": "the database does not exist",
	"42501": "this user has no right to connect to the database",
	"53300": "too many connections",
	"57P03": "the database is starting up or shutting down",
}
