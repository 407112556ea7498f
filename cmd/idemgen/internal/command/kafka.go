package command

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/idemgen/idemgen/internal/seeds"
)

// KafkaFlags say which brokers to ask, and how.
type KafkaFlags struct {
	brokers, sasl string
	tls           bool
	ca, cert, key string // files
}

func (f *KafkaFlags) Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.brokers, "brokers", "", "addresses of brokers, host:port,host:port (default $KAFKA_BROKERS)")
	flags.BoolVar(&f.tls, "tls", false, "connect to the brokers by TLS")
	flags.StringVar(&f.ca, "tls-ca", "", "`file` with the certificates (PEM) of the brokers' certificate authorities (default those of the system); implies --tls")
	flags.StringVar(&f.cert, "tls-cert", "", "`file` with a client certificate (PEM), if the brokers require one; implies --tls")
	flags.StringVar(&f.key, "tls-key", "", "`file` with the key (PEM) of --tls-cert")
	flags.StringVar(&f.sasl, "sasl", "", "SASL mechanism of the brokers: plain, scram-sha-256 or scram-sha-512")
}

// Options are those of a client; nil without an address of brokers.
func (f *KafkaFlags) Options() ([]kgo.Opt, error) {
	brokers := seeds.Of(cmp.Or(f.brokers, os.Getenv("KAFKA_BROKERS")))
	if len(brokers) == 0 {
		return nil, nil
	}
	opts := []kgo.Opt{kgo.SeedBrokers(brokers...)}
	secured, err := f.secured()
	if err != nil {
		return nil, err
	}
	if secured != nil {
		opts = append(opts, kgo.DialTLSConfig(secured))
	}
	mechanism, err := f.mechanism()
	if mechanism != nil {
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, err
}

// secured returns how to connect with TLS; nil is without.
func (f *KafkaFlags) secured() (*tls.Config, error) {
	if !f.tls && f.ca == "" && f.cert == "" && f.key == "" {
		return nil, nil
	}
	config := new(tls.Config)
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--tls-ca: %s has no certificate in PEM", f.ca)
		}
	}
	if f.cert != "" || f.key != "" {
		own, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// mechanism returns how to authenticate to the brokers, nil without --sasl.
func (f *KafkaFlags) mechanism() (sasl.Mechanism, error) {
	name, password := os.Getenv("KAFKA_USERNAME"), os.Getenv("KAFKA_PASSWORD")
	switch f.sasl {
	case "":
		return nil, nil
	case "plain":
		return plain.Auth{User: name, Pass: password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: name, Pass: password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: name, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("--sasl %s: want plain, scram-sha-256 or scram-sha-512", f.sasl)
}
