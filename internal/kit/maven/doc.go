// Package maven fetches archives of Maven Central, each pinned by its SHA-256. It names no host:
// a library of this module knows where archives come from, and is asked.
//
// It must not import any package of this module but postgres.
package maven
