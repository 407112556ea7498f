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

var payloadShape = payloadKeys.in(Section{Of: "payload", Rules: "encodings.md#encoded-values"})

var payloadKeys = keys[Payload]{
	{name: "naming",
		value: put(Shape{Words: payloadNamings}, func(p *Payload) **Text { return &p.Naming }, readNaming),
		text:  "Naming style of payload members that are read by field name.",
		more: "With `camelCase`, field `order_id` reads member `orderId`, even inside objects. Paths, record-key parts and enum " +
			"values are used as written.",
		standard: "`snake_case`",
		example:  "payload: {naming: camelCase}"},
	{name: "root",
		value:    pathOfMembers(func(p *Payload) **Path { return &p.Root }),
		text:     "Path at which the paths of fields and of `event_type` start.",
		standard: "the whole value",
		example:  "payload: {root: data}"},
	{name: "absent_marker",
		value: put(textShape, func(p *Payload) **Text { return &p.Marker }, readMarker),
		text:  "String that the producer sends in place of an omitted value. A patch field with this value is absent.",
		more: "In a field that is not a [patch](encodings.md#patches), the string is a decode error. It cannot begin like a " +
			"number (E108).",
		example: "payload: {absent_marker: __debezium_unavailable_value}"},
	{name: "encoding",
		value: encodingValue(payloadEncodings, func(p *Payload) **Text { return &p.Encoding }),
		text: "Encoding of record values: plain, a JSON string that contains the payload, Avro or Protobuf. The `confluent_` " +
			"encodings are those of Confluent's Schema Registry serializers.",
		standard: "`plain`",
		example:  "payload: {encoding: confluent_avro, schema: avro/orders.avsc}"},
	{name: "schema",
		value: put(schemaShape, func(p *Payload) **Text { return &p.Schema }, readSchemaName),
		text: "Schema for Avro or Protobuf: an `.avsc` or `.proto` file, relative to the spec, then `#` and a name in the file. " +
			"An `.avsc` file needs no name.",
		more: "`avro/order.avsc` is the whole file, `avro/all.avsc#shop.v1.Order` is one of its records, and " +
			"`proto/orders.proto#shop.v1.Order` is a message. Imports are relative to the spec, to the folder of the schema, or to a folder above that.",
		values:   "file and name",
		standard: "required with Avro and Protobuf",
		codes:    "E110 E117 E118",
		example:  "payload: {encoding: protobuf, schema: proto/orders.proto#shop.v1.Order}"},
	{name: "format", instead: "leave it out: values are JSON; {type: bytes, record: value} reads any other value unchanged"},
	{name: "unknown_members", instead: "leave it out: members that are not declared are ignored"},
}

var keyFormatShape = keyFormatKeys.in(Section{Of: "record_key_format", Rules: "encodings.md#record-keys"})

var keyFormatKeys = keys[KeyFormat]{
	{name: "encoding", required: true, missing: "for example encoding: binary",
		value: encodingValue(keyEncodings, func(k *KeyFormat) **Text { return &k.Encoding }),
		text: "Encoding of record keys. With `binary`, the key is a single part without a `path`: a big-endian number, a " +
			"16-byte uuid, or raw bytes. `plain` is text or JSON. The Avro, Protobuf and `confluent_` encodings are those of " +
			"`payload`, and each part needs a `path`.",
		example: "record_key_format: {encoding: binary}"},
	{name: "schema",
		value:    put(schemaShape, func(k *KeyFormat) **Text { return &k.Schema }, readSchemaName),
		text:     "Schema for Avro or Protobuf, as for `payload`. If the schema is a single type, its part has the path `$`.",
		values:   "file and name",
		standard: "required with Avro and Protobuf",
		codes:    "E110 E117 E118",
		example:  "record_key_format: {encoding: confluent_protobuf, schema: proto/orders.proto#shop.v1.Key}"},
}
