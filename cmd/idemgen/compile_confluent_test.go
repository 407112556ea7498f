//go:build cgo

package main

func init() { librdkafka = "confluent" }
