package member_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/certs"
	"github.com/idemgen/idemgen/internal/kit/postgres"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

// onlySecured lets users in with TLS only: by a password, or by a certificate in their name.
const onlySecured = `hostssl all idemtest 127.0.0.1/32 scram-sha-256
hostssl all by_password 127.0.0.1/32 scram-sha-256
hostssl all by_certificate 127.0.0.1/32 cert
`

// securedPostgres is a server that only takes connections with TLS.
type securedPostgres struct {
	at    *url.URL // of the superuser
	admin *pgxpool.Pool
}

func startSecuredPostgres(t *testing.T, ca *certs.Authority) *securedPostgres {
	t.Helper()
	content := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	own := ca.Issue(t, "postgres")
	server, err := postgres.Start(t.Context(), postgres.Options{
		TCP:  true,
		Conf: map[string]string{"ssl": "on", "ssl_cert_file": "own.pem", "ssl_key_file": "own.key", "ssl_ca_file": "ca.pem"},
		Files: map[string]string{
			"own.pem": content(own.CertFile), "own.key": content(own.KeyFile), "ca.pem": content(ca.File), "pg_hba.conf": onlySecured,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	p := &securedPostgres{}
	if p.at, err = url.Parse(server.URL()); err != nil {
		t.Fatal(err)
	}
	p.at.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {ca.File}}.Encode()
	if p.admin, err = pgxpool.New(t.Context(), p.at.String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.admin.Close)
	idemtest.Exec(t, p.admin, `CREATE ROLE by_password LOGIN PASSWORD '`+secret+`' IN ROLE idemtest; CREATE ROLE by_certificate LOGIN IN ROLE idemtest`)
	idemtest.Exec(t, p.admin, `CREATE DATABASE shop`)
	shop := pool(t, p.address("shop", p.at.User, p.at.Query()))
	idemtest.Migrate(t, shop, filepath.Join("..", "..", "..", "templates", "sql"))
	idemtest.Exec(t, shop, outbox.Migration(outbox.ByRelay))
	idemtest.Exec(t, shop, `CREATE TABLE diary (n bigint GENERATED ALWAYS AS IDENTITY, partition int NOT NULL, offs int NOT NULL)`)
	shop.Close()
	return p
}

// address is that of a database for a user.
func (p *securedPostgres) address(database string, user *url.Userinfo, settings url.Values) string {
	u := *p.at
	u.Path, u.User, u.RawQuery = "/"+database, user, settings.Encode()
	return u.String()
}

func pool(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// A service applies records of secured brokers, of each kind, into a secured database, and its
// relay sends to them.
func TestServiceConnectsWithTLSAndSASL(t *testing.T) {
	s := secure(t)
	own := s.ca.Issue(t, "by_certificate")
	server := startSecuredPostgres(t, s.ca)
	verified := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.ca.File}}
	certified := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.ca.File}, "sslcert": {own.CertFile}, "sslkey": {own.KeyFile}}
	byPassword, byCertificate := url.UserPassword("by_password", secret), url.User("by_certificate")
	for _, broken := range []struct{ address, says string }{
		{server.address("shop", byPassword, url.Values{"sslmode": {"disable"}}), "pg_hba.conf"},
		{server.address("shop", byPassword, url.Values{"sslmode": {"verify-full"}, "sslrootcert": {certs.New(t).File}}), "certificate is not accepted"},
		{server.address("shop", byCertificate, verified), "pg_hba.conf"},
	} {
		staysOut(t, pool(t, broken.address), broken.says)
	}
	user := func(mechanism string) login {
		return login{ca: s.ca.File, mechanism: mechanism, user: "ann", password: secret}
	}
	endpoint, token := tokens(t)
	var databases atomic.Int32
	withBoth(t, func(t *testing.T, k kind) {
		for _, tc := range []struct {
			name     string
			brokers  []kfake.Opt
			login    login
			user     *url.Userinfo
			settings url.Values
		}{
			{"OAUTHBEARER", []kfake.Opt{kfake.TLS(s.server)}, login{ca: s.ca.File, mechanism: "OAUTHBEARER", user: "ann", password: secret, tokens: endpoint}, byPassword, verified},
			{"TLS", []kfake.Opt{kfake.TLS(s.server)}, login{ca: s.ca.File}, byPassword, verified},
			{"mTLS", []kfake.Opt{kfake.TLS(s.mutual)}, login{ca: s.ca.File, own: own}, byCertificate, certified},
			{"PLAIN", s.both, user("PLAIN"), byPassword, verified},
			{"SCRAM-SHA-256", s.both, user("SCRAM-SHA-256"), byPassword, verified},
			{"SCRAM-SHA-512", s.both, user("SCRAM-SHA-512"), byCertificate, certified},
		} {
			t.Run(tc.name, func(t *testing.T) {
				name := fmt.Sprintf("shop_%d", databases.Add(1))
				idemtest.Exec(t, server.admin, `CREATE DATABASE `+name+` TEMPLATE shop`)
				var control map[kmsg.Key]func(kmsg.Request) kmsg.Response
				var taken atomic.Int32
				if tc.login.tokens != "" {
					control = takesToken(token, &taken)
				}
				roundTrip(t, k, s.brokers(t, control, tc.brokers...), tc.login, pool(t, server.address(name, tc.user, tc.settings)))
				if tc.login.tokens != "" && taken.Load() < 2 { // of the service and of its relay
					t.Errorf("the brokers took %d tokens", taken.Load())
				}
			})
		}
	})
}

// staysOut runs a service that its database does not let in, until it says why.
func staysOut(t *testing.T, db *pgxpool.Pool, says string) {
	t.Helper()
	log := &testLog{}
	c := consumerOfTopic(t, db, wire.Topic{Name: topicName}, idem.WithLogger(textLogger(log)))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, nil) }()
	for {
		select {
		case err := <-ended: // an operator must act
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), secret) {
				t.Errorf("Run: %v, want %s", err, says)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
		if p := c.Health(); len(p) == 1 && p[0].Code == "unavailable" && strings.Contains(p[0].Reason, says) {
			if lines := errorLine.FindAllString(log.String(), -1); len(lines) != 1 || !strings.Contains(lines[0], says) || !strings.Contains(lines[0], p[0].Do) || strings.Contains(lines[0], secret) {
				t.Errorf("errors in the log: %q", lines)
			}
			cancel()
			<-ended
			return
		}
	}
}

// roundTrip writes events into an outbox, until they are applied as records.
func roundTrip(t *testing.T, k kind, brokers string, l login, db *pgxpool.Pool) {
	t.Helper()
	const events = 5
	for i := range events {
		e := outbox.Event{AggregateType: "a", AggregateID: strconv.Itoa(i), Type: "T"}
		if err := outbox.Write(t.Context(), db, e); err != nil {
			t.Fatal(err)
		}
	}
	p := k.send(t, brokers, l)
	defer p.Close()
	relay := &outbox.Relay{DB: db, Producer: p, Topic: func(string) string { return topicName }}
	s, c := open(t, brokers, k), consumer(t, db)
	s.login = l
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := relay.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		if err := c.Run(ctx, s); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	for end := time.Now().Add(time.Minute); query(t, db, `SELECT count(*)::int FROM diary`) < events; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not applied within a minute: %v, %v", c.Health().Err(), relay.Health())
		}
	}
}
