//go:build unix

package member_test

import (
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/internal/kit/certs"
	"github.com/idemgen/idemgen/internal/kit/kafkatest"
	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// securedKafka starts a Kafka with a listener for each way to connect.
func securedKafka(t *testing.T, ca *certs.Authority) *kafkatest.Broker {
	t.Helper()
	line := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " ")
	}
	own := ca.Issue(t, "broker")
	const modules = "org.apache.kafka.common.security."
	conf := map[string]string{
		"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": line(own.CertFile), "ssl.keystore.key": line(own.KeyFile),
		"ssl.truststore.type": "PEM", "ssl.truststore.certificates": line(ca.File), "listener.name.mutual.ssl.client.auth": "required",
		"listener.name.both.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER", "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
		"listener.name.both.scram-sha-512.sasl.jaas.config": modules + "scram.ScramLoginModule required;",
		// Without more settings, it takes tokens that nobody signed.
		"listener.name.both.oauthbearer.sasl.jaas.config": modules + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
	}
	for _, listener := range []string{"both", "login"} {
		conf["listener.name."+listener+".plain.sasl.jaas.config"] = modules + `plain.PlainLoginModule required user_ann="` + secret + `";`
	}
	kafka, err := kafkatest.RunWith(t.Context(), conf, map[string]string{"TLS": "SSL", "MUTUAL": "SSL", "LOGIN": "SASL_PLAINTEXT", "BOTH": "SASL_SSL"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kafka.Close() })
	return kafka
}

// A real Kafka serves clients, and rejects them, as the brokers of the other tests do.
func TestKafkaWithTLSAndSASL(t *testing.T) {
	longtest.Skip(t)
	ca, other := certs.New(t), certs.New(t)
	own, foreign := ca.Issue(t, "orders"), other.Issue(t, "orders")
	kafka := securedKafka(t, ca)
	client, err := kgo.NewClient(kgo.SeedBrokers(kafka.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	if _, err := admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{{User: "ann", Mechanism: kadm.ScramSha512, Iterations: 4096, Password: secret}}); err != nil {
		t.Fatal(err)
	}
	endpoint, _ := tokens(t)
	user := func(mechanism string) login {
		return login{ca: ca.File, mechanism: mechanism, user: "ann", password: secret}
	}
	token := user("OAUTHBEARER")
	token.tokens = endpoint
	logins := map[string]struct {
		listener string
		login    login
	}{
		"TLS": {"TLS", login{ca: ca.File}}, "mTLS": {"MUTUAL", login{ca: ca.File, own: own}},
		"PLAIN": {"BOTH", user("PLAIN")}, "SCRAM-SHA-512": {"BOTH", user("SCRAM-SHA-512")}, "OAUTHBEARER": {"BOTH", token},
	}
	for _, c := range clients { // one after another, because they read one topic
		for name, l := range logins {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				for end := 0; ; end++ {
					_, _ = admin.DeleteTopic(t.Context(), topicName)
					if made, err := admin.CreateTopic(t.Context(), 1, 1, nil, topicName); err == nil && made.Err == nil {
						break
					} else if end > 1000 {
						t.Fatal(made, err)
					}
				}
				db := diaryDB(t)
				idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
				roundTrip(t, kind{c, classic}, kafka.AddrOf(l.listener), l.login, db)
			})
		}
	}
	wrong := func(mechanism, authority string) login {
		return login{ca: authority, mechanism: mechanism, user: "ann", password: secret + "!"}
	}
	cases := []unserved{
		{"wrong password", kafka.AddrOf("LOGIN"), wrong("PLAIN", ""), "credentials", "authentication failed"},
		{"wrong password over TLS", kafka.AddrOf("BOTH"), wrong("SCRAM-SHA-512", ca.File), "credentials", "authentication failed"},
		{"wrong mechanism", kafka.AddrOf("BOTH"), wrong("SCRAM-SHA-256", ca.File), "credentials", "unsupported sasl mechanism"},
		{"no SASL", kafka.AddrOf("LOGIN"), login{}, "unavailable", "it may require sasl"},
		{"plaintext to TLS", kafka.AddrOf("TLS"), login{}, "tls", "it may require tls"},
		{"SASL over plaintext to TLS", kafka.AddrOf("BOTH"), wrong("PLAIN", ""), "tls", "it may require tls"},
		{"TLS to plaintext", kafka.Addr(), login{ca: ca.File}, "tls", "it may not use tls"},
		{"unknown authority", kafka.AddrOf("TLS"), login{ca: other.File}, "tls", "certificate"},
		{"no client certificate", kafka.AddrOf("MUTUAL"), login{ca: ca.File}, "tls", "certificate"},
		{"client certificate of an unknown authority", kafka.AddrOf("MUTUAL"), login{ca: ca.File, own: foreign}, "tls", "certificate"},
		{"topic missing", kafka.Addr(), login{}, "topic-missing", "topic absent.v1 does not exist"},
	}
	t.Run("services", func(t *testing.T) { servicesSay(t, cases) })
	t.Run("relays", func(t *testing.T) { relaysSay(t, cases) })
}
