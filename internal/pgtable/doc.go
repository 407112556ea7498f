// Package pgtable says what the tables of a database are like, and where they differ from what a
// spec says of them. The runtime asks at its start; the command idemgen describes tables that are
// there already. It reads the system's catalogs only and changes nothing. It must not import any
// other package of this module.
package pgtable
