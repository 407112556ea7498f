// Package idemtype is the vocabulary of the runtime: what a service, a [Source] and the engine
// of a partition tell each other. Package idem names all of it, and there people meet it; it
// is a package of its own so that the engine need not import package idem. Most of it is
// plain data. Of this module it must not import any package but halt and wire.
package idemtype
