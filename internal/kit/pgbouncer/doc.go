// Package pgbouncer runs a real PgBouncer before a test's database. It takes the one that EnvBin
// names, or that is installed; else it fetches Debian's package, with its libraries, into the
// test kit's cache and installs nothing.
//
// It must not import any package of this module but postgres.
package pgbouncer

// EnvBin is the program pgbouncer.
const EnvBin = "IDEMTEST_PGBOUNCER"
