// Package strictjson is the format of records whose payload is JSON. It refuses what readers
// of JSON could understand in two ways, and never a value that they could not.
//
// It does no I/O and must not import any other package of this module but wire.
package strictjson
