package syntax

var typeShape = typeKeys.in(Section{Of: "a type", Rules: "encodings.md#types", OneOf: []string{"fields", "enum"}}).as("type")

var typeKeys = docKeys(func(t *Type) *Doc { return &t.Doc },
	key[Type]{name: "fields",
		value: value[Type]{fieldsShape, func(w *walker, e entry, t *Type) bool {
			t.Kind, t.Body = ObjectType, e.node.Pos
			return w.some(e) && readFields(w, e, objectField, &t.Fields)
		}},
		text:    "Fields of an object type.",
		more:    "Each field is read by `path`, relative to the object (E306). A type cannot contain itself (E211).",
		codes:   "E211 E306",
		example: "Line: {fields: {sku: string, pieces: {type: int32, path: qty}}}",
		asMap:   "for example fields: {order_id: uuid}"},
	key[Type]{name: "enum",
		value:   value[Type]{listOf(constantShape), readEnum},
		text:    "Allowed values, as the producer writes them. Any other string is a decode error.",
		codes:   "E201 E202 E312",
		example: "Site: {enum: [north, south]}"},
	key[Type]{name: "is", stands: "fields", instead: "there are no aliases, a type has fields or an enum: write the other type at each field"},
	key[Type]{name: "unknown", instead: "leave it out: a value that the enum does not list is a decode error; to accept any value, declare the field string"},
	key[Type]{name: "go", instead: "fields have the Go types of docs/encodings.md: convert them in Go code, handle: true"},
	key[Type]{name: "codec", instead: "declare the field string, bytes or json, and read it in Go code, handle: true"},
	key[Type]{name: "sensitive",
		value: boolValue(func(t *Type) **Bool { return &t.Sensitive }),
		text:  "Whether to hide values of this type and their members in printed events and in test reports.",
		more: "This also covers optional fields, lists and maps of the type. See [sensitive " +
			"fields](encodings.md#sensitive-fields).",
		standard: "`false`",
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
		text:  "Type of the value. A value of type `optional T` may be absent or null; any other value is required.",
		more: "[Types](encodings.md#types) lists the JSON that each type accepts. Types declared under `types`, and lists and " +
			"maps of them, are also allowed.",
		values:  "type",
		codes:   "E208",
		example: "lines: {type: list(Line)}"},
	key[Field]{name: "path",
		value: pathOfMembers(func(f *Field) **Path { return &f.Path }),
		text:  "Location of the value in the payload: member names, separated by dots.",
		more: "The path starts at `root`, or at the whole value if it begins with `$.`. It can lead through objects, maps and " +
			"json; other types have no members (E307).",
		standard: "the field's name, as `naming` spells it",
		codes:    "E307",
		example:  "placed_at: {type: timestamp, path: meta.placedAt}"},
	key[Field]{name: "header",
		value: textValue(func(f *Field) **Text { return &f.Header }),
		text:  "Record header that contains the value, which is parsed as the field's type.",
		more: "A header that occurs twice in a record is a decode error. Objects, lists, maps, and the `_array` and `decimal_` " +
			"types cannot be read from a header (E306).",
		codes:   "E306",
		example: "event_id: {type: uuid, header: id}"},
	key[Field]{name: "encoding",
		value: encodingValue(headerEncodings, func(f *Field) **Text { return &f.Encoding }),
		text: "Encoding of the header. `plain` is text. `binary` is a big-endian int32 (4 bytes) or int64 (8 bytes), a 16-byte " +
			"uuid, or raw bytes.",
		more: "All fields of a topic that read the same binary header must have the same type and encoding, and `event_type` cannot read it. To make a binary header part " +
			"of the idempotency key, name its field in `source`. A field without `header` cannot have an encoding (E110).",
		standard: "`plain`",
		codes:    "E110 E306",
		example:  "id: {type: uuid, header: id, encoding: binary}"},
	key[Field]{name: "record",
		value: wordValue(func(f *Field) **Text { return &f.Record }, "key", "value", "timestamp", "offset", "partition", "topic"),
		text:  "Part of the record that provides the value.",
		more: "The type must match (E306): string, bytes or json for `key` and `value`, timestamp for `timestamp`, int64 for " +
			"`offset`, int32 for `partition`, string for `topic`. The field cannot be optional or have a default.",
		codes:   "E306",
		example: "sent_at: {type: timestamp, record: timestamp}"},
	key[Field]{name: "default",
		value:   put(constantShape, func(f *Field) **Text { return &f.Default }, readConstant),
		text:    "Value to use if the member or header is absent. Null is still an error.",
		more:    "Allowed for scalars, enums and json, but not for optional fields (E305).",
		values:  "constant",
		codes:   "E304 E305",
		example: "firmware: {type: string, default: unknown}"},
	key[Field]{name: "patch",
		value:    boolValue(func(f *Field) **Bool { return &f.Patch }),
		text:     "Whether an absent value leaves the column unchanged. Null clears the column if the type is optional.",
		more:     "See [patches](encodings.md#patches).",
		standard: "`false`",
		codes:    "E303 E309",
		example:  "note: {type: optional string, patch: true}"},
	key[Field]{name: "text", instead: "leave it out: bytes are standard base64, as encoding/json writes them; declare any other encoding as string, and decode it in Go"},
	key[Field]{name: "ce", instead: ofCloudEvents},
	key[Field]{name: "segment", instead: "declare {type: string, record: topic}, which is the whole name of the topic"},
	key[Field]{name: "sensitive",
		value:    boolValue(func(f *Field) **Bool { return &f.Sensitive }),
		text:     "Whether to hide the value in printed events and in test reports.",
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
