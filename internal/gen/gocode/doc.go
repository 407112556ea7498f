// Package gocode writes the Go files of a service package from the model. Every file is
// made with jennifer, which jen.go alone imports; the texts of SQL statements come in as
// arguments. It does no I/O.
//
// It must not import any package of this module but explain, goname, model and visible.
package gocode
