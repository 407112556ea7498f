// Package redistest runs real Redis servers for tests: a single one, a Cluster, and one behind
// Sentinel. It takes the program that EnvBin names, or that is installed; else it fetches a pinned
// build once, into the test kit's cache. Tests never skip: without a Redis they fail and name the
// commands that help.
//
// It must not import a client of Redis, so that tests of services without Redis link none. It must
// not import any package of this module but maven, port, postgres and program.
package redistest

// EnvBin is the program redis-server, or one that does the same.
const EnvBin = "IDEMTEST_REDIS"
