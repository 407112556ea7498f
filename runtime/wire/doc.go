// Package wire is what generated code calls, whatever the format of the records: headers and
// record keys, keys and fingerprints of events, rows in Postgres' binary format, and the batch
// that collects them. A format is a package below it, such as strictjson.
//
// People need it to read generated code, and for the methods of the types that package idem
// names: Message, Tx, UUID, Decimal, Date, LocalTime, Key.
//
// It does no I/O, knows no SQL and must not import package idem, which imports it, nor a
// format.
package wire

// CompatV1 is referred to by generated code. If it does not compile, the code was
// generated for another version of the runtime: run idemgen generate again, or
// require the version of the runtime that idemgen came with.
const CompatV1 = true
