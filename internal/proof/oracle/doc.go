// Package oracle interprets a checked spec: it reads records one after the other and
// computes what the tables and the dead letters must hold afterwards. Generated tests
// compare the database with it, so it must be able to say "wrong" and not only "not
// once". It is therefore written from the language reference alone, and knows nothing of the code
// that it judges. It must not import any package of this module but model.
//
// # Rows
//
// A row is one line, for example
//
//	order_id=00000000-0000-4000-8000-000000000001  total=12.50  note=NULL
//
// It has a column=value for each column in the order of the table, separated by two spaces.
// Columns that the database fills ({now: true}, identity, now() and gen_random_uuid() defaults)
// are left out in every row of the table; Columns names the others. Rows are in primary key order,
// for the reader: a comparison sorts both sides as text, because the order of a text key depends
// on the collation of the database.
//
// DeadLetters prints "partition offset class path", sorted by topic, partition and offset;
// for no path stands "the payload" if the class is decode, else "-". See Outcome for
// classes and paths.
//
// # Values
//
// NULL is NULL for every type. Otherwise:
//
//	text, varchar, char,           JSON string as encoding/json writes it without HTML
//	named                          escapes (Encoder.SetEscapeHTML(false))
//	types read from a text         the text likewise, as it was sent, whatever Postgres makes of it
//	boolean                        true, false
//	smallint, integer, bigint      digits
//	numeric(p,s)                   plain, exactly s digits after the point, never -0
//	numeric                        plain, as many digits after the point as were written
//	real, double precision         strconv.FormatFloat(v, 'g', -1, 64)
//	uuid                           lower case with hyphens
//	timestamptz                    UTC, layout 2006-01-02T15:04:05.000000Z
//	timestamp                      layout 2006-01-02T15:04:05.000000
//	date                           layout 2006-01-02
//	bytea                          \x and lower-case hex
//	jsonb, json                    compact; object keys sorted by their bytes, the last of
//	                               equal keys; strings as text above; numbers plain, without
//	                               exponent, with their trailing zeros, never -0
//	arrays                         JSON array of numbers (as in jsonb), of booleans, or of strings
//	                               of what their elements are above; null for NULL
package oracle
