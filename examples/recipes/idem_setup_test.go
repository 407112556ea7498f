package recipes

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Setup of the generated tests. This file is yours: idemgen will not change it.

// newTestHandler returns the handler under test. Each test has its own database, db.
func newTestHandler(t testing.TB, db *pgxpool.Pool) Handler {
	return Service{}
}

// editTestLog returns the records of a topic that the tests apply: log, which was generated from
// the spec, as it is or with records of your own.
func editTestLog(topic string, log []idemtest.Event) []idemtest.Event {
	if topic != "files.v1" {
		return log
	}
	for i := range log {
		log[i].Message.Value = pack(log[i].Message.Value)
	}
	return log
}

// pack does what the producer of files does.
func pack(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(content)
	_ = w.Close()
	return packed.Bytes()
}
