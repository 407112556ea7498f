// Package wire contains what generated code calls for records of any format: headers and record
// keys, keys and fingerprints of events, rows in Postgres' binary format, and the batch that
// collects them. Each format has a package below this one, such as strictjson.
//
// Look here when you read generated code, or for the methods of the types that package idem
// aliases: Message, Tx, UUID, Decimal, Date, LocalTime, Key.
//
// It does no I/O, contains no SQL and must not import package idem, which imports it, nor a
// format.
package wire

// CompatV1 is referenced by generated code. If that reference does not compile, the code was
// generated for another version of the runtime: run idemgen generate again, or require the version
// of the runtime that belongs to your idemgen.
const CompatV1 = true
