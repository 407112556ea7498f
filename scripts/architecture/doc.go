// Package architecture holds the tests of the repository's structure: who may import
// whom, how large the runtime may grow, and what must build without a C compiler.
package architecture
