// Package idemtest is the test kit for generated services. It gives each test its own PostgreSQL
// database and in-process Kafka broker, with nothing to install or configure.
//
// If $IDEMTEST_DATABASE_URL is set, it is the URL of a disposable server, with a superuser.
// Otherwise the kit starts a server with the programs in $IDEMTEST_POSTGRES_BIN, PATH or the usual
// folders; if there are none, it downloads a pinned build once (linux/amd64 only).
// $IDEMTEST_POSTGRES_MAJOR selects a version. All tests of a test binary share one server, which
// stops when the binary ends, even if it crashes. Tests are never skipped: without PostgreSQL they
// fail with the commands that install it.
//
// It must not import confluent-kafka-go, so that tests without a broker need no C compiler.
package idemtest
