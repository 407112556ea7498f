// Package templates holds the texts that are not Go code: SQL statements, the
// migrations of the runtime's own tables and, in later folders, starter files.
// Templates print fields and range over lists; every decision is made by the
// package that fills them. It must not import any other package of this module.
package templates

import "embed"

// SQL holds sql/*.tmpl, the shapes of statements and migrations that sqlcode fills,
// and sql/idem_<part>_<n>.sql, the runtime's own tables by part and schema version.
//
//go:embed sql
var SQL embed.FS

// Scaffold holds scaffold/*.tmpl, the starter files that package scaffold fills.
//
//go:embed scaffold
var Scaffold embed.FS
