package member_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/idemgen/idemgen/internal/kit/certs"
)

// login is how a client connects to secured brokers. The zero value is plaintext.
type login struct {
	ca                        string     // file of the authority; "" is no TLS
	own                       certs.Pair // of the client; zero is none
	mechanism, user, password string     // of SASL; "" is none
	tokens                    string     // endpoint that gives tokens for OAUTHBEARER to user and password

	patience time.Duration // of a producer, for one record; 0 is its own
}

// protocol is librdkafka's security.protocol.
func (l login) protocol() string {
	switch {
	case l.ca == "" && l.mechanism == "":
		return "plaintext"
	case l.ca == "":
		return "sasl_plaintext"
	case l.mechanism == "":
		return "ssl"
	}
	return "sasl_ssl"
}

// franz is the login in options of franz-go.
func (l login) franz() (options []kgo.Opt) {
	if l.ca != "" {
		pem, _ := os.ReadFile(l.ca) // an empty pool trusts nobody
		config := &tls.Config{RootCAs: x509.NewCertPool()}
		config.RootCAs.AppendCertsFromPEM(pem)
		if l.own.CertFile != "" {
			config.Certificates = []tls.Certificate{l.own.TLS}
		}
		options = append(options, kgo.DialTLSConfig(config))
	}
	sasl := scram.Auth{User: l.user, Pass: l.password}
	switch l.mechanism {
	case "PLAIN":
		options = append(options, kgo.SASL(plain.Auth{User: l.user, Pass: l.password}.AsMechanism()))
	case "SCRAM-SHA-256":
		options = append(options, kgo.SASL(sasl.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		options = append(options, kgo.SASL(sasl.AsSha512Mechanism()))
	case "OAUTHBEARER":
		options = append(options, kgo.SASL(oauth.Oauth(l.token)))
	}
	return options
}

// token asks the endpoint for a token, as packages for OAuth do.
func (l login) token(ctx context.Context) (oauth.Auth, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, l.tokens, strings.NewReader(form.Encode()))
	if err != nil {
		return oauth.Auth{}, err
	}
	q.SetBasicAuth(l.user, l.password)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return oauth.Auth{}, err
	}
	defer r.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	err = json.NewDecoder(r.Body).Decode(&answer)
	return oauth.Auth{Token: answer.Token}, err
}
