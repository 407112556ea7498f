//go:build cgo

package spec

import "github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"

func init() { commandtest.Librdkafka = "confluent" }
