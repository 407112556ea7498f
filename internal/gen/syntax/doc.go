// Package syntax reads the spec language: bytes in, a *Spec with the position of
// every key and value out, and diagnostics that name file, line and column.
//
// It resolves nothing: a table, column, field or type that is only named here is a text
// with a position. Its sibling, package resolve, turns a Spec into the model. Who reports what:
//
//   - syntax: E101-E113 (E107 for duplicate keys), E201, E203, E215, and
//     what one map shows without looking anywhere else: E305 (default on optional),
//     E306 (an object member read from the record), E312 (enum values), E313
//     (record-key parts without path), E406 (idle event), E408 (no window), E412
//     (options of an offset key), E604 (no primary key), E708 (range).
//   - resolve: everything that needs a second place of the spec, a default, or the
//     meaning of a type word: E107 for a field that the topic and the event declare,
//     E114, E202, E204-E213, E302-E304, E306-E310, E401-E405, E407, E409, E411-E414,
//     E5xx, E601-E603, E605, E608, E610 and E701-E705.
//
// A section of the spec is two files: its types and their readers (topics.go), and the table of
// its keys (topickeys.go). A line of the table is all that is said of a key: how it is read, what
// messages propose for it and for words of other tools, and what people read of it. From the
// tables go run ./scripts/keys makes the JSON Schemas for editors and docs/keys.md. A new key is a
// field of the type and a line of the table.
//
// A part of the spec that was refused carries Broken. Broken says: a problem inside
// this map is reported already, so a key that is missing here proves nothing.
// Resolve adds no error about what a broken part lacks or was meant to hold.
//
// Package syntax imports the standard library and, in node.go only, yaml.v3. It must not import
// any package of this module but visible.
package syntax
