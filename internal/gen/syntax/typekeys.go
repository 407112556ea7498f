package syntax

var typeShape = typeKeys.in(Section{Of: "a type", Rules: "encodings.md#types", OneOf: []string{"fields", "enum"}}).as("type")

var typeKeys = docKeys(func(t *Type) *Doc { return &t.Doc },
	key[Type]{name: "fields",
		value: value[Type]{fieldsShape, func(w *walker, e entry, t *Type) bool {
			t.Kind, t.Body = ObjectType, e.node.Pos
			return w.some(e) && readFields(w, e, objectField, &t.Fields)
		}},
		text:    "Fields of an object, which are its members.",
		more:    "Their source is a `path`, relative to the object. A type does not contain itself.",
		codes:   "E211 E306",
		example: "Line: {fields: {sku: string, pieces: {type: int32, path: qty}}}",
		asMap:   "for example fields: {order_id: uuid}"},
	key[Type]{name: "enum",
		value:   value[Type]{listOf(constantShape), readEnum},
		text:    "The texts that are on the wire. Another text is a decode error.",
		codes:   "E312",
		example: "Site: {enum: [north, south]}"},
	key[Type]{name: "is", stands: "fields", instead: "a type has fields or an enum: write the type that is meant at each field"},
	key[Type]{name: "unknown", instead: "leave it out: a text that the enum does not list is a decode error; where any may come, declare the field string"},
	key[Type]{name: "go", instead: "fields have the Go types of docs/encodings.md: convert them in Go code, handle: true"},
	key[Type]{name: "codec", instead: "declare the field string, bytes or json, and read it in Go code, handle: true"},
	key[Type]{name: "sensitive",
		value:    boolValue(func(t *Type) **Bool { return &t.Sensitive }),
		text:     "Whether fields of this type are sensitive: no text has their values, or those of their members.",
		more:     "This includes optional fields, lists and maps of the type. See [sensitive fields](encodings.md#sensitive-fields).",
		standard: "`false`",
		codes:    "E108",
		example:  "Card: {fields: {number: string}, sensitive: true}"},
)

var (
	fieldTypeShape = Shape{Text: true, About: "string uuid bool int32 int64 float64 decimal decimal_bytes(s) decimal_struct timestamp " +
		"epoch_s epoch_ms epoch_us epoch_ns any_epoch_s any_epoch_ms any_epoch_us any_epoch_ns local_timestamp local_timestamp_array " +
		"date epoch_days date_array bytes json, a named type, list(T), map(T), optional T."}.as("field_type")
	fieldShape = either(fieldTypeShape, fieldKeys.in(Section{Of: "a field", Rules: "encodings.md#fields"})).as("field")

	fieldsShape = Shape{Names: fieldNames.pattern.String(), Entries: &fieldShape, About: "Fields: name: type, or name: {type, ...}."}.as("fields")
)

var fieldKeys = docKeys(func(f *Field) *Doc { return &f.Doc },
	key[Field]{name: "type", required: true, missing: "for example type: string",
		value: put(fieldTypeShape, func(f *Field) **FieldType { return &f.Type }, readFieldType),
		text:  "Type of the value. A value of type `optional T` may be absent or null; any other must be there.",
		more: "The [types](encodings.md#types) say which JSON each accepts. A type that you declare under `types` is one of them, " +
			"and so is a list or a map of one.",
		values:  "type",
		codes:   "E208",
		example: "lines: {type: list(Line)}"},
	key[Field]{name: "path",
		value: pathOfMembers(func(f *Field) **Path { return &f.Path }),
		text:  "Where the value is in the payload: members, with dots between them.",
		more: "It starts at `root`, or with `$.` at the whole value. It leads through objects, maps and json: " +
			"nothing else has members (E307).",
		standard: "the field's name, as `naming` spells it",
		codes:    "E108 E307",
		example:  "placed_at: {type: timestamp, path: meta.placedAt}"},
	key[Field]{name: "header",
		value: textValue(func(f *Field) **Text { return &f.Header }),
		text:  "Record header that holds the value, as a text that the type reads.",
		more: "A header that a record has twice is a decode error. Objects, lists, maps, arrays and the `decimal_` types are not " +
			"read from a header (E306).",
		codes:   "E306",
		example: "event_id: {type: uuid, header: id}"},
	key[Field]{name: "encoding",
		value: encodingValue(headerEncodings, func(f *Field) **Text { return &f.Encoding }),
		text: "How the header is written. `plain`: as a text. `binary`: int32 as 4 bytes and int64 as 8, big-endian; uuid as 16 " +
			"bytes; bytes as they are.",
		more: "All fields of a topic read one header in one way. To make a binary header part of the idempotency key, name its " +
			"field in `source`. A field without `header` has no encoding (E110).",
		standard: "`plain`",
		codes:    "E110 E306",
		example:  "id: {type: uuid, header: id, encoding: binary}"},
	key[Field]{name: "record",
		value: wordValue(func(f *Field) **Text { return &f.Record }, "key", "value", "timestamp", "offset", "partition", "topic"),
		text:  "Part of the record itself that is the value.",
		more: "The type must fit (E306): `key` and `value` are string, bytes or json; `timestamp` is timestamp; `offset` is int64; " +
			"`partition` is int32; `topic` is string. The field is not optional and has no default.",
		codes:   "E111 E306",
		example: "sent_at: {type: timestamp, record: timestamp}"},
	key[Field]{name: "default",
		value:   put(constantShape, func(f *Field) **Text { return &f.Default }, readConstant),
		text:    "The value where the member or header is absent. Null is still an error.",
		more:    "Scalars, enums and json can have one, and optional fields cannot (E305).",
		values:  "constant",
		codes:   "E304 E305",
		example: "firmware: {type: string, default: unknown}"},
	key[Field]{name: "patch",
		value:    boolValue(func(f *Field) **Bool { return &f.Patch }),
		text:     "Whether an absent value leaves the column as it is. Null clears the column, if the type is optional.",
		more:     "[Patches](encodings.md#patches) says where a patch can be used.",
		standard: "`false`",
		codes:    "E303 E309",
		example:  "note: {type: optional string, patch: true}"},
	key[Field]{name: "text", instead: "leave it out: bytes are standard base64, as encoding/json writes them; declare others string, and decode them in Go"},
	key[Field]{name: "ce", instead: ofCloudEvents},
	key[Field]{name: "segment", instead: "the whole name of the topic is {type: string, record: topic}"},
	key[Field]{name: "sensitive",
		value:    boolValue(func(f *Field) **Bool { return &f.Sensitive }),
		text:     "Whether the value is kept out of texts: where Go prints the event, and in what tests report.",
		more:     "See [sensitive fields](encodings.md#sensitive-fields).",
		standard: "`false`",
		codes:    "E202",
		example:  "email: {type: string, sensitive: true}"},
	key[Field]{name: "optional", instead: `write it before the type, as in note: optional string`},
	key[Field]{name: "min", instead: checkHint}, key[Field]{name: "max", instead: checkHint},
	key[Field]{name: "nullable", instead: `write it before the type, as in note: optional string`},
	key[Field]{name: "null", instead: `write it before the type, as in note: optional string`},
	key[Field]{name: "required", instead: `fields are required unless their type is "optional ..."`},
)
