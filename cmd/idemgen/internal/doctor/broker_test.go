package doctor

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

// What to check follows from how the brokers failed to respond.
func TestAdviceAboutBrokers(t *testing.T) {
	away := errors.New("connection refused")
	for _, c := range []struct {
		err  error
		want string
	}{
		{kerr.SaslAuthenticationFailed, loginAdvice}, {kerr.UnsupportedSaslMechanism, loginAdvice}, {io.EOF, loginAdvice},
		{&tls.CertificateVerificationError{Err: away}, tlsAdvice}, {tls.RecordHeaderError{Msg: "first record"}, tlsAdvice},
		{&net.OpError{Op: "remote error", Err: away}, tlsAdvice}, {&net.OpError{Op: "read", Err: away}, tlsAdvice},
		{fmt.Errorf("is TLS missing: %w", io.EOF), tlsAdvice}, {errors.New("received a tls alert record"), tlsAdvice},
		{&net.OpError{Op: "dial", Err: away}, reach}, {away, reach}, {errors.New("no TLS"), reach},
	} {
		if got := BrokerAdvice(fmt.Errorf("unable to dial: %w", c.err)); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
