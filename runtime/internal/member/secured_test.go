package member_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/certs"
)

const secret = "hunter2"

// secured are the authority and the server's sides of secured brokers.
type secured struct {
	ca          *certs.Authority
	server      *tls.Config
	mutual      *tls.Config // asks for a client certificate
	scram, both []kfake.Opt // users; both: with TLS
}

func secure(t testing.TB) secured {
	t.Helper()
	s := secured{ca: certs.New(t)}
	s.server = &tls.Config{Certificates: []tls.Certificate{s.ca.Issue(t, "broker").TLS}}
	s.mutual = s.server.Clone()
	s.mutual.ClientAuth, s.mutual.ClientCAs = tls.RequireAndVerifyClientCert, s.ca.Pool()
	s.scram = []kfake.Opt{kfake.EnableSASL()}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		s.scram = append(s.scram, kfake.Superuser(mechanism, "ann", secret))
	}
	s.both = append(s.scram[:len(s.scram):len(s.scram)], kfake.TLS(s.server))
	return s
}

// brokers starts a cluster until the test ends. The requests of control get other answers.
func (s secured) brokers(t testing.TB, control map[kmsg.Key]func(kmsg.Request) kmsg.Response, options ...kfake.Opt) string {
	t.Helper()
	c, err := kfake.NewCluster(append(clusterOptions(1), options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for key, answer := range control {
		c.ControlKey(key.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			return answer(r), nil, true
		})
	}
	return c.ListenAddrs()[0]
}

// Kafka answers credentials and mechanisms that it rejects; kfake closes the connection, or takes
// each mechanism.
var (
	rejectsLogin = map[kmsg.Key]func(kmsg.Request) kmsg.Response{kmsg.SASLAuthenticate: func(r kmsg.Request) kmsg.Response {
		answer := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		answer.ErrorCode, answer.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr("Authentication failed: Invalid username or password")
		return answer
	}}
	rejectsMechanism = map[kmsg.Key]func(kmsg.Request) kmsg.Response{kmsg.SASLHandshake: func(r kmsg.Request) kmsg.Response {
		answer := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
		answer.ErrorCode, answer.SupportedMechanisms = kerr.UnsupportedSaslMechanism.Code, []string{"PLAIN"}
		return answer
	}}
)

// plaintext makes a listener that, like Kafka's, closes connections that do not begin with a
// request; kfake would wait.
func plaintext(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	return requests{l}, err
}

type requests struct{ net.Listener }

func (l requests) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &request{Conn: c}, err
}

type request struct {
	net.Conn
	begun bool
}

// alerting is a listener with TLS that, like Kafka's, answers a request in plaintext by an alert.
func alerting(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	return alerts{l}, err
}

type alerts struct{ net.Listener }

func (l alerts) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &alert{c}, err
}

type alert struct{ net.Conn }

func (c *alert) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 80}) // an internal error, of TLS 1.2
		c.Close()
		return 0, io.EOF
	}
	return n, err
}

func (c *request) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.begun && n > 0 && b[0] != 0 { // a request begins with its size
		c.Conn.Close()
		return 0, io.EOF
	}
	c.begun = true
	return n, err
}

// tokens is an endpoint that gives a token to user ann.
func tokens(t testing.TB) (endpoint, token string) {
	t.Helper()
	part := func(content any) string {
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	now := time.Now().Unix()
	token = part(map[string]any{"alg": "none"}) + "." + part(map[string]any{"sub": "ann", "iat": now, "exp": now + 3600}) + "."
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ann" || password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": 3600}`, token)
	}))
	t.Cleanup(server.Close)
	return server.URL, token
}

// takesToken answers for a broker that knows OAUTHBEARER alone, which kfake does not. Without
// SASL of its own, kfake takes connections that were rejected.
func takesToken(token string, taken *atomic.Int32) map[kmsg.Key]func(kmsg.Request) kmsg.Response {
	return map[kmsg.Key]func(kmsg.Request) kmsg.Response{
		kmsg.SASLHandshake: func(r kmsg.Request) kmsg.Response {
			answer := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
			if r.(*kmsg.SASLHandshakeRequest).Mechanism != "OAUTHBEARER" {
				answer.ErrorCode = kerr.UnsupportedSaslMechanism.Code
			}
			return answer
		},
		kmsg.SASLAuthenticate: func(r kmsg.Request) kmsg.Response {
			answer := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
			if !strings.Contains(string(r.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes), "auth=Bearer "+token+"\x01") {
				answer.ErrorCode = kerr.SaslAuthenticationFailed.Code
				return answer
			}
			taken.Add(1)
			return answer
		},
	}
}
