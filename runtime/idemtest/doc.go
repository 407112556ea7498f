// Package idemtest is the kit for tests of generated services: a PostgreSQL database and an
// in-process Kafka broker for each test, without anything to install or configure.
//
// PostgreSQL is taken from $IDEMTEST_DATABASE_URL (a superuser's URL of a throw-away server) if
// that is set, else a server is run from the programs in $IDEMTEST_POSTGRES_BIN, PATH
// or the usual folders, and where there are none a pinned build is fetched once (linux/amd64
// only). $IDEMTEST_POSTGRES_MAJOR asks for a version. One server serves a test binary, and ends
// with it however it ends. Tests never skip: without PostgreSQL they fail and name the
// commands that help.
//
// It must not import confluent-kafka-go, so that tests without a broker need no C compiler.
package idemtest
