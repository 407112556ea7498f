package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/internal/proof/quickstart"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// older is the version of the revision that stands for the version before.
const older = "v0.0.1"

// partitions of the topic.
const partitions = 4

// upgraded is a service, its database and its log, while its version changes.
type upgraded struct {
	*check
	dir      string // of the module
	applied  int    // of its migrations
	postgres *idemtest.Postgres
	broker   *idemtest.Broker
	orders   *orders
}

// upgrade runs a service of the version before, and then this version on its database, and counts
// what came of each event: before the upgrade, while both versions run, and after it.
func (c *check) upgrade(ctx context.Context, from string) (found string, err error) {
	from, stands, err := c.before(ctx, from)
	if err != nil {
		return "", err
	}
	if _, err := c.proxy.publish(ctx, older, from); err != nil {
		return "", err
	}
	u := &upgraded{check: c, orders: &orders{}}
	defer func() { err = errors.Join(err, u.close()) }()
	if err := u.open(ctx); err != nil {
		return "", err
	}
	then, err := u.start(ctx, "go mod init example.com/orders", "go get -tool "+path+"/cmd/idemgen@"+older, "go tool idemgen init --client franz", "go mod tidy")
	if err != nil {
		return "", err
	}
	if err := u.counted(ctx, then); err != nil {
		return "", fmt.Errorf("%s, of %s: %w", older, from, err)
	}
	if err := u.send(ctx, u.orders.few()); err != nil { // for either of both
		return "", err
	}
	now, err := u.start(ctx, "go get "+path+"@"+c.guide.Version, "go tool idemgen generate", "go mod tidy", "go tool idemgen check", "go vet ./...")
	if err != nil {
		return "", fmt.Errorf("from %s, which is %s: %w", older, from, err)
	}
	if err := now.Works(ctx); err != nil {
		return "", err
	}
	if err := errors.Join(u.counted(ctx, then), then.Stop()); err != nil {
		return "", fmt.Errorf("while both versions run: %w", err)
	}
	if err := errors.Join(u.counted(ctx, now), now.Stop()); err != nil {
		return "", fmt.Errorf("after the upgrade: %w", err)
	}
	return fmt.Sprintf("%s; %d records, %d of them duplicates, 0 lost, 0 doubled", stands, u.orders.sent, u.orders.resent), nil
}

// before returns the revision that stands for the version before, and says which it is.
func (c *check) before(ctx context.Context, from string) (revision, says string, err error) {
	if from != "" {
		return from, "from revision " + from, nil
	}
	tags, err := output(ctx, c.proxy.repository, nil, "git", "tag", "--list", "v*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname")
	tag, _, _ := strings.Cut(tags, "\n")
	if err != nil || tag != "" {
		return tag, "from " + tag, err
	}
	return "HEAD", "there is no tag yet, so both versions are this commit", nil
}

func (u *upgraded) open(ctx context.Context) (err error) {
	if u.dir, err = u.folder("upgrade", quickstart.Place{}); err != nil {
		return err
	}
	if u.postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true}); err != nil {
		return err
	}
	u.broker, err = idemtest.StartBroker(map[string]int32{topic: partitions})
	return err
}

func (u *upgraded) close() (err error) {
	if u.broker != nil {
		u.broker.Close()
	}
	if u.postgres != nil {
		err = u.postgres.Close()
	}
	return err
}

// start brings the module to a version, applies the migrations that it has now and had not, builds
// the program, and starts it.
func (u *upgraded) start(ctx context.Context, commands ...string) (*stage.Process, error) {
	program := filepath.Join(u.dir, fmt.Sprint("service", u.applied))
	commands = append(commands, "go build -o "+program+" ./cmd/orders")
	if _, err := output(ctx, u.dir, u.proxy.env, "sh", "-ec", strings.Join(commands, "\n")); err != nil {
		return nil, err
	}
	if err := u.migrate(ctx); err != nil {
		return nil, err
	}
	address, err := port.FreeAddr()
	if err != nil {
		return nil, err
	}
	return stage.Start(ctx, []string{"DATABASE_URL=" + u.postgres.URL(), "KAFKA_BROKERS=" + u.broker.Addr(), "HTTP_ADDR=" + address}, program)
}

// migrate applies the migrations from the first that is new.
func (u *upgraded) migrate(ctx context.Context) error {
	all, err := filepath.Glob(filepath.Join(u.dir, "migrations", "*.sql"))
	if err != nil {
		return err
	}
	latest, err := os.MkdirTemp(u.work, "migrations-")
	if err != nil {
		return err
	}
	for _, name := range all[u.applied:] {
		if err := os.Link(name, filepath.Join(latest, filepath.Base(name))); err != nil {
			return err
		}
	}
	if len(all) > u.applied {
		err = u.postgres.Migrate(ctx, latest)
	}
	u.applied = len(all)
	return err
}

// counted sends events, new ones and duplicates of all former ones, and waits until the service
// has passed each record. Then the rows must be what the events, each counted once, make of them.
func (u *upgraded) counted(ctx context.Context, p *stage.Process) error {
	if err := u.send(ctx, u.orders.more()); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, u.postgres.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	passed := 0
	err = stage.Until(ctx, 2*time.Minute, func() (bool, error) {
		const next = `SELECT coalesce(sum(next), 0)::bigint FROM (SELECT max(next) AS next FROM idem_ledger GROUP BY stream) AS tails`
		err := conn.QueryRow(ctx, next).Scan(&passed)
		return passed == u.orders.sent, cmp.Or(err, p.Dead())
	})
	if err != nil {
		return fmt.Errorf("%d records of %d were passed: %w\n%s", passed, u.orders.sent, err, p.Log)
	}
	return u.orders.audit(ctx, conn)
}
