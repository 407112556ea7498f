package syntax

var (
	payloadEncodings = []string{"plain", "json_string", "confluent_json", "avro", "confluent_avro", "protobuf", "confluent_protobuf"}
	headerEncodings  = []string{"plain", "binary"}
	keyEncodings     = []string{"plain", "binary", "confluent_json", "avro", "confluent_avro", "protobuf", "confluent_protobuf"}
	payloadNamings   = []string{"snake_case", "camelCase"}
)

// otherWords are what people call words of closed sets that are not near them; both are written
// without _ and in small letters.
var otherWords = map[string]string{
	"snake": "snake_case", "lowersnake": "snake_case", "lowersnakecase": "snake_case", "underscore": "snake_case", "underscores": "snake_case",
	"camel": "camelCase", "lowercamel": "camelCase", "lowercamelcase": "camelCase", "camelback": "camelCase",
}

var schemaShape = Shape{Text: true, Pattern: `^.+(\.avsc|\.avsc#.+|\.proto#.+)$`}

var payloadShape = payloadKeys.in(Section{Of: "payload", Rules: "encodings.md#packed-values"})

var payloadKeys = keys[Payload]{
	{name: "naming",
		value: put(Shape{Words: payloadNamings}, func(p *Payload) **Text { return &p.Naming }, readNaming),
		text:  "How members are spelled that have the name of their field.",
		more: "With `camelCase`, field `order_id` is read at `orderId`, also in objects. Paths, record-key parts and texts of enums " +
			"are read as written.",
		standard: "`snake_case`",
		codes:    "E111",
		example:  "payload: {naming: camelCase}"},
	{name: "root",
		value:    pathOfMembers(func(p *Payload) **Path { return &p.Root }),
		text:     "Where the paths of fields and of `event_type` start.",
		standard: "the whole value",
		codes:    "E108",
		example:  "payload: {root: data}"},
	{name: "absent_marker",
		value: put(textShape, func(p *Payload) **Text { return &p.Marker }, readMarker),
		text:  "Text that a producer sends in place of a value that it leaves out: a patch field with it is absent.",
		more: "In a field that is not a [patch](encodings.md#patches), the text is a decode error. It does not begin like a number " +
			"(E108).",
		codes:   "E108",
		example: "payload: {absent_marker: __debezium_unavailable_value}"},
	{name: "encoding",
		value: encodingValue(payloadEncodings, func(p *Payload) **Text { return &p.Encoding }),
		text: "Packing of a value: none, a JSON string whose text is the payload, Avro or Protobuf. The `confluent_` encodings are " +
			"those of serializers of Confluent's registry.",
		more:     "See [packed values](encodings.md#packed-values).",
		standard: "`plain`",
		codes:    "E111",
		example:  "payload: {encoding: confluent_avro, schema: avro/orders.avsc}"},
	{name: "schema",
		value: put(schemaShape, func(p *Payload) **Text { return &p.Schema }, readSchemaName),
		text: "Of Avro and Protobuf: the `.avsc` or `.proto` file, relative to the spec, then `#` and a name in it. An `.avsc` file needs no " +
			"name.",
		more: "`avro/order.avsc` is the whole file, `avro/all.avsc#shop.v1.Order` one record of it, " +
			"`proto/orders.proto#shop.v1.Order` a message. Imports are relative to the spec, too.",
		values:   "file and name",
		standard: "required with Avro and Protobuf",
		codes:    "E105 E108 E110 E117 E118",
		example:  "payload: {encoding: protobuf, schema: proto/orders.proto#shop.v1.Order}"},
	{name: "format", instead: "leave it out: values are JSON, and {type: bytes, record: value} reads any other one as it is"},
	{name: "unknown_members", instead: "leave it out: members that are not declared are ignored"},
}

var keyFormatShape = keyFormatKeys.in(Section{Of: "record_key_format", Rules: "encodings.md#record-keys"})

var keyFormatKeys = keys[KeyFormat]{
	{name: "encoding", required: true, missing: "for example encoding: binary",
		value: encodingValue(keyEncodings, func(k *KeyFormat) **Text { return &k.Encoding }),
		text: "How they are written. `binary`: big-endian numbers, the 16 bytes of a UUID, or bytes as they are, in one part without " +
			"`path`. The others are as for `payload`, and each part has a `path`.",
		more:    "See [record keys](encodings.md#record-keys).",
		codes:   "E111",
		example: "record_key_format: {encoding: binary}"},
	{name: "schema",
		value:    put(schemaShape, func(k *KeyFormat) **Text { return &k.Schema }, readSchemaName),
		text:     "Of Avro and Protobuf, as for payload. A schema that is one type is read at path `$`.",
		values:   "file and name",
		standard: "required with Avro and Protobuf",
		codes:    "E105 E108 E110 E117 E118",
		example:  "record_key_format: {encoding: confluent_protobuf, schema: proto/orders.proto#shop.v1.Key}"},
}
