package doctor

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

const (
	loginAdvice = "check $KAFKA_USERNAME, $KAFKA_PASSWORD and the mechanism in --sasl"
	tlsAdvice   = "check that the brokers use TLS if --tls is given, and only then; that --tls-ca has their authority's certificate; " +
		"and that --tls-cert and --tls-key are given if they require a client certificate"
)

// BrokerAdvice says what to do if the brokers do not respond.
func BrokerAdvice(err error) string {
	op, _ := errors.AsType[*net.OpError](err)
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed), errors.Is(err, kerr.UnsupportedSaslMechanism):
		return loginAdvice
	case unverified, noTLS, op != nil && (op.Op == "remote error" || op.Op == "read"):
		return tlsAdvice
	case errors.Is(err, io.EOF) && strings.Contains(err.Error(), "TLS"), strings.Contains(err.Error(), "tls alert record"):
		return tlsAdvice
	case errors.Is(err, io.EOF): // the broker closed the connection when it had the credentials, or lacked them
		return loginAdvice
	}
	return reach
}
