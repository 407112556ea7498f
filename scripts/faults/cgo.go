//go:build cgo

package main

func init() {
	programs = append(programs, example+"/cmd/order-projector")
	libraries = append(libraries, "confluent")
}
