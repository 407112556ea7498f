// Package sqlcode writes SQL from the model: the statement of each step and the text of
// migrations. Shapes are templates; this package prepares what they print. Which tables
// and columns a migration needs is decided elsewhere. It does no I/O.
//
// It must not import any package of this module but model and templates.
package sqlcode
