//go:build cgo

package services

import "github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"

func init() { commandtest.Librdkafka = "confluent" }
