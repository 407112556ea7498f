// Package idemtype defines the types that a service, a [Source] and the partition engine exchange.
// Package idem has aliases for those that service code names. The types are in a package of their
// own so that the engine need not import package idem. Most are plain data. Of this module it must
// not import any package but halt and wire.
package idemtype
