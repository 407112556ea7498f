// Package postgres finds a PostgreSQL and runs throw-away servers of it for tests, demos and
// benchmarks. A server belongs to the process that started it: however that process ends,
// a supervisor (the same executable, started again) stops the server and removes its directory.
//
// It must not import any package of this module but port.
package postgres

// Environment variables that people may set.
const (
	// EnvURL names a server to use instead of starting one: the URL of a superuser on a
	// server whose databases may come and go.
	EnvURL = "IDEMTEST_DATABASE_URL"
	// EnvBin is the folder that holds the programs postgres and initdb.
	EnvBin = "IDEMTEST_POSTGRES_BIN"
	// EnvMajor is the major version that tests ask for, such as 17; empty is any from
	// OldestMajor on.
	EnvMajor = "IDEMTEST_POSTGRES_MAJOR"
)

// OldestMajor is the oldest PostgreSQL that is used.
const OldestMajor = 14

// defaultMajor is fetched when nothing is installed and no version is asked for.
const defaultMajor = 17
