// Package program runs a server of the test kit as a process that ends with this one, on Linux
// however this one ends. It must not import any package of this module but postgres.
package program
