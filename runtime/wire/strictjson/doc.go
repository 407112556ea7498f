// Package strictjson decodes records whose payload is JSON. It rejects documents that JSON parsers
// could interpret in different ways, and accepts all others that are valid.
//
// It does no I/O and must not import any other package of this module but wire.
package strictjson
