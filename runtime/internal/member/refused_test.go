package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/idemgen/idemgen/internal/kit/certs"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/runtime/wire"
)

// refusals are the ways in which brokers do not serve a client, with what a service says of each.
func refusals(t testing.TB) []unserved {
	s := secure(t)
	other := certs.New(t)
	wrong := login{mechanism: "SCRAM-SHA-512", user: "ann", password: secret + "!"}
	wrongOverTLS := wrong
	wrongOverTLS.ca = s.ca.File
	return []unserved{
		{"wrong password", s.brokers(t, rejectsLogin, s.scram...), wrong, "credentials", "authentication failed"},
		{"wrong password over TLS, and the broker hangs up", s.brokers(t, nil, s.both...), wrongOverTLS, "credentials", "closed the connection during sasl authentication"},
		{"wrong mechanism", s.brokers(t, rejectsMechanism, s.both...), wrongOverTLS, "credentials", "unsupported sasl mechanism"},
		{"no SASL", s.brokers(t, nil, s.scram...), login{}, "unavailable", "it may require sasl"},
		{"plaintext to TLS", s.brokers(t, nil, kfake.TLS(s.server)), login{}, "tls", "it may require tls"},
		{"plaintext to TLS that sends an alert", s.brokers(t, nil, kfake.ListenFn(alerting)), login{}, "tls", "it may require tls"},
		{"SASL over plaintext to TLS", s.brokers(t, nil, s.both...), wrong, "tls", "it may require tls"},
		{"TLS to plaintext", s.brokers(t, nil, kfake.ListenFn(plaintext)), login{ca: s.ca.File}, "tls", "it may not use tls"},
		{"unknown authority", s.brokers(t, nil, kfake.TLS(s.server)), login{ca: other.File}, "tls", "certificate"},
		{"no client certificate", s.brokers(t, nil, kfake.TLS(s.mutual)), login{ca: s.ca.File}, "tls", "certificate required"},
		{"client certificate of an unknown authority", s.brokers(t, nil, kfake.TLS(s.mutual)), login{ca: s.ca.File, own: other.Issue(t, "orders")}, "tls", "unknown c"},
		{"OAUTHBEARER without an endpoint", s.brokers(t, rejectsLogin, kfake.TLS(s.server)), login{ca: s.ca.File, mechanism: "OAUTHBEARER", user: "ann", password: secret}, "credentials", "set it to oidc"},
		{"broker away", "127.0.0.1:1", login{}, "unavailable", "connection refused"},
		{"topic missing", s.brokers(t, nil), login{}, "topic-missing", "topic absent.v1 does not exist"},
	}
}

type unserved struct {
	name, brokers string
	login         login
	code, words   string
}

var (
	errorLine  = regexp.MustCompile(`(?m)^.*level=ERROR.*$`)
	reasonPart = regexp.MustCompile(`reason="((?:[^"\\]|\\.)*)"`)
)

// errorsIn are the errors of a log, but those of a database that is slow while many tests run.
func errorsIn(log *testLog) []string {
	return slices.DeleteFunc(errorLine.FindAllString(log.String(), -1), func(l string) bool { return strings.Contains(l, "database") })
}

// plainly is a text without the differences of clients.
func plainly(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", " ")) }

// Whatever keeps a service from its brokers is an error in the log, with what to do, and is in
// Health under a code of its own. A secret is in neither.
func TestRefusalIsAnErrorThatNamesTheCause(t *testing.T) { servicesSay(t, refusals(t)) }

func servicesSay(t *testing.T, cases []unserved) {
	db := diaryDB(t)
	withBoth(t, func(t *testing.T, k kind) {
		for _, of := range cases {
			if of.login.mechanism == "OAUTHBEARER" && k.name == "franz" { // its option has a function that gives the token
				continue
			}
			t.Run(of.name, func(t *testing.T) {
				t.Parallel()
				topic := wire.Topic{Name: topicName, StartFrom: wire.Earliest, NewPlan: func() wire.Plan { return &diary{} }}
				if of.code == "topic-missing" {
					topic.Name = "absent.v1"
				}
				s := open(t, of.brokers, k)
				log := &testLog{}
				s.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
				s.login, s.pace.Request = of.login, time.Second
				c := consumerOfTopic(t, db, topic, idem.WithLogger(s.Logger))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- c.Run(ctx, s) }()
				defer func() {
					cancel()
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}()
				var found idemtype.Problems
				for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
					found = c.Health()
					if len(found) == 1 && found[0].Code == of.code && strings.Contains(plainly(found[0].Reason), of.words) && found[0].Do != "" {
						break
					}
					if time.Now().After(end) {
						t.Fatalf("Health: %+v\n%s", found, errorLine.FindAllString(log.String(), -1))
					}
				}
				lines := errorsIn(log)
				if len(lines) != 1 || !strings.Contains(lines[0], "do="+fmt.Sprintf("%q", found[0].Do)) {
					t.Errorf("errors in the log:\n%s", strings.Join(lines, "\n"))
				}
				for _, line := range lines {
					if m := reasonPart.FindStringSubmatch(line); m == nil || !strings.Contains(plainly(m[1]), of.words) {
						t.Errorf("the reason is not in %s", line)
					}
				}
				if strings.Contains(log.String()+fmt.Sprint(found), secret) {
					t.Error("the password is told")
				}
			})
		}
	})
}

// A relay says the same of its brokers.
func TestRelaySaysWhatKeepsItFromBrokers(t *testing.T) { relaysSay(t, refusals(t)) }

func relaysSay(t *testing.T, cases []unserved) {
	withBoth(t, func(t *testing.T, k kind) {
		for _, of := range cases {
			if of.code == "topic-missing" { // it holds back one aggregate: see TestEventOfAMissingTopic
				continue
			}
			if of.login.mechanism == "OAUTHBEARER" && k.name == "franz" { // its option has a function that gives the token
				continue
			}
			t.Run(of.name, func(t *testing.T) {
				t.Parallel()
				db, log := idemtest.DB(t), &testLog{}
				idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
				of.login.patience = time.Second
				p := k.send(t, of.brokers, of.login)
				defer p.Close()
				r := &outbox.Relay{DB: db, Producer: p, Topic: func(string) string { return topicName }, Logger: textLogger(log)}
				if err := outbox.Write(t.Context(), db, outbox.Event{AggregateType: "a", AggregateID: "1", Type: "T"}); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				defer func() { cancel(); <-ended }()
				says := func() string { return plainly(fmt.Sprint(r.Health())) }
				for end := time.Now().Add(time.Minute); !strings.Contains(says(), of.words) || len(errorsIn(log)) == 0; time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("Health: %s", says())
					}
				}
				if lines := errorsIn(log); len(lines) != 1 || !strings.Contains(plainly(lines[0]), of.words) || !strings.Contains(lines[0], "do="+fmt.Sprintf("%q", refusal.Advice(of.code))) {
					t.Errorf("errors in the log:\n%s", strings.Join(lines, "\n"))
				}
				if strings.Contains(log.String()+says(), secret) {
					t.Error("the password is told")
				}
			})
		}
	})
}
