package operators

import (
	"crypto/tls"
	"encoding/json"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/certs"
)

// secured starts a broker with a topic of the shop.
func secured(t *testing.T, options ...kfake.Opt) (*kfake.Cluster, string) {
	t.Helper()
	cluster, err := kfake.NewCluster(append(options, kfake.NumBrokers(1), kfake.SeedTopics(1, "orders.v1"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster, cluster.ListenAddrs()[0]
}

// kafkaCheck is what doctor says of the brokers, and what to do.
func kafkaCheck(t *testing.T, args ...string) (state, found, advice string) {
	t.Helper()
	_, out, stderr := run(t, append([]string{"doctor", "../../../../examples/orders", "--json"}, args...)...)
	var answer struct {
		Checks []struct{ State, About, Found, Advice string }
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	for _, c := range answer.Checks {
		if c.About == "kafka" {
			return c.State, c.Found, c.Advice
		}
	}
	t.Fatal(out)
	return "", "", ""
}

// Commands connect to brokers with TLS, a client certificate and a password, and name the flag or
// the variable that may be wrong.
func TestCommandsConnectToSecuredBrokers(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	t.Setenv("KAFKA_USERNAME", "ann")
	t.Setenv("KAFKA_PASSWORD", "hunter2")
	ca, other := certs.New(t), certs.New(t)
	own, foreign := ca.Issue(t, "ann"), other.Issue(t, "ann")
	server := &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, "broker").TLS}}
	mutual := server.Clone()
	mutual.ClientAuth, mutual.ClientCAs = tls.RequireAndVerifyClientCert, ca.Pool()
	_, open := secured(t)
	_, encrypted := secured(t, kfake.TLS(server))
	_, certified := secured(t, kfake.TLS(mutual))
	_, login := secured(t, kfake.TLS(server), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "ann", "hunter2"), kfake.Superuser("PLAIN", "bob", "x"))
	rejecting, refuses := secured(t, kfake.EnableSASL())
	rejecting.ControlKey(int16(kmsg.SASLHandshake), func(r kmsg.Request) (kmsg.Response, error, bool) {
		rejecting.KeepControl()
		answer := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
		answer.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		return answer, nil, true
	})
	const user, encryption = "check $KAFKA_USERNAME, $KAFKA_PASSWORD and the mechanism in --sasl", "check that the brokers use TLS if --tls is given"
	trust := "--tls-ca " + ca.File
	for _, tc := range []struct{ name, brokers, flags, advice string }{
		{"TLS", encrypted, trust, ""},
		{"TLS and SCRAM", login, trust + " --sasl scram-sha-512", ""},
		{"a client certificate", certified, trust + " --tls-cert " + own.CertFile + " --tls-key " + own.KeyFile, ""},
		{"another user", login, trust + " --sasl plain", user},
		{"no SASL", login, trust, user},
		{"another mechanism", refuses, "--sasl plain", user},
		{"an unknown authority", encrypted, "--tls", encryption},
		{"plaintext to TLS", encrypted, "", encryption},
		{"no client certificate", certified, trust, encryption},
		{"a client certificate of another authority", certified, trust + " --tls-cert " + foreign.CertFile + " --tls-key " + foreign.KeyFile, encryption},
		{"nobody", "127.0.0.1:1", trust, "check that it runs"},
	} {
		state, found, advice := kafkaCheck(t, append(strings.Fields(tc.flags), "--brokers", tc.brokers)...)
		if (state == "ok") != (tc.advice == "") || !strings.HasPrefix(advice, tc.advice) || strings.Contains(found, "hunter2") {
			t.Errorf("%s: %s: %s\n%s", tc.name, state, found, advice)
		}
	}
	db := aShop(t)
	set := []string{"stream", "set", at(db), "--topic", "orders.v1", "--partition", "0", "--from", "7", "--operator", "ann", "--reason", "why", "--at", "2026-11-27T10:06:00Z", "--apply-again", "--dry-run"}
	if _, out, stderr := run(t, append(set, "--brokers", login, "--tls-ca", ca.File, "--sasl", "scram-sha-512")...); !strings.Contains(out, "would append") {
		t.Errorf("%s%s", out, stderr)
	}
	if _, out, stderr := run(t, append(set, "--brokers", login, "--tls-ca", ca.File, "--sasl", "plain")...); !strings.Contains(stderr, user) {
		t.Errorf("%s%s", out, stderr)
	}
	doctor := []string{"doctor", "../../../../examples/orders", "--brokers", open}
	refused(t, "--sasl kerberos: want plain, scram-sha-256 or scram-sha-512", append(doctor, "--sasl", "kerberos")...)
	refused(t, "--tls-ca: open nowhere.pem: no such file or directory", append(doctor, "--tls-ca", "nowhere.pem")...)
	refused(t, "--tls-ca: "+own.KeyFile+" has no certificate in PEM", append(doctor, "--tls-ca", own.KeyFile)...)
	refused(t, "--tls-cert, --tls-key: open : no such file or directory", append(doctor, "--tls-cert", own.CertFile)...)
}
