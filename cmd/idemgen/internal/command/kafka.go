package command

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// KafkaFlags say which brokers to ask, and how.
type KafkaFlags struct {
	brokers, sasl string
	tls           bool
}

func (f *KafkaFlags) Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.brokers, "brokers", "", "addresses of brokers, host:port,host:port (default $KAFKA_BROKERS)")
	flags.BoolVar(&f.tls, "tls", false, "the brokers speak TLS")
	flags.StringVar(&f.sasl, "sasl", "", "SASL mechanism of the brokers: plain, scram-sha-256 or scram-sha-512")
}

// Options are those of a client; nil without an address of brokers.
func (f *KafkaFlags) Options() ([]kgo.Opt, error) {
	brokers := cmp.Or(f.brokers, os.Getenv("KAFKA_BROKERS"))
	if brokers == "" {
		return nil, nil
	}
	opts := []kgo.Opt{kgo.SeedBrokers(strings.Split(brokers, ",")...)}
	if f.tls {
		opts = append(opts, kgo.DialTLSConfig(new(tls.Config)))
	}
	mechanism, err := f.mechanism()
	if mechanism != nil {
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, err
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
	return nil, fmt.Errorf("--sasl %s: it is plain, scram-sha-256 or scram-sha-512", f.sasl)
}
