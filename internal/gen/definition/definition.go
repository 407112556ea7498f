// Package definition is what a spec says of keys and content, as canonical text, and hashes
// of it. Definitions are compared as text or by hash: one that reads the same is the same. The
// hashes are stored in databases and in idem.state.yaml, so that the texts must not change
// without need. It does no I/O.
//
// It must not import any package of this module but model.
package definition

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Hash is the start of a SHA-256 over texts, each after its length; never 0, which stands for
// none.
func Hash(texts ...string) uint32 {
	var data []byte
	for _, t := range texts {
		data = binary.BigEndian.AppendUint32(data, uint32(len(t)))
		data = append(data, t...)
	}
	sum := sha256.Sum256(data)
	return max(1, binary.BigEndian.Uint32(sum[:]))
}

// Content is the hash of what the fingerprints of an event cover. It begins with the number of
// the way in which fingerprints of such fields are made, and with the first name of the event:
// another event of the same content is another definition.
func Content(e *model.Event) uint32 {
	texts := []string{"content 1", e.Name}
	if slices.ContainsFunc(e.Key.Compared, func(f *model.Field) bool { return f.Type.ManyTexts() }) {
		texts[0] = "content 2" // which compares values that have several texts in JSON
	}
	for _, f := range e.Key.Compared {
		texts = append(texts, f.Name+" "+Field(f))
	}
	return Hash(texts...)
}

// Parts are the parts of a source. An optional field gives the key that it gave when it
// was required.
func Parts(parts []model.KeySource) (defs []string) {
	for _, p := range parts {
		if p.Field == nil {
			defs = append(defs, "header "+strconv.Quote(p.Header))
			continue
		}
		f := *p.Field
		f.Type.Optional = false
		defs = append(defs, "field "+f.Name+" "+Field(&f))
	}
	return defs
}

// Field is everything of a field that decides its value.
func Field(f *model.Field) string {
	def := typeDef(f.Type)
	switch f.Source.Kind {
	case model.FromPayload:
		if path := f.Source.Path; len(path) != 1 || path[0] != f.Name {
			def += " path " + Path(path)
		}
	case model.FromHeader:
		def += " header " + strconv.Quote(f.Source.Header)
		if f.Source.Binary {
			def += " binary"
		}
	case model.FromRecord:
		def += " record " + f.Source.Record
	case model.FromRecordKey:
		def += " record_key " + Path(f.Source.Part.Path)
	}
	if f.Patch {
		def += " patch"
	}
	if f.Default != nil {
		def += " default " + strconv.Quote(f.Default.Text)
	}
	return def
}

// Path is a path of member names, which may hold dots themselves.
func Path(path []string) string {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = strings.NewReplacer(`\`, `\\`, `.`, `\.`).Replace(name)
	}
	return "$" + strings.Join(append([]string{""}, names...), ".")
}

var kinds = map[model.Kind]string{
	model.String: "string", model.UUID: "uuid", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64",
	model.Float64: "float64", model.Decimal: "decimal", model.Timestamp: "timestamp",
	model.LocalTimestamp: "local_timestamp", model.Date: "date", model.Bytes: "bytes", model.JSON: "json",
	model.Enum: "enum",
}

var notations = map[model.Notation]string{
	model.EpochSeconds: "epoch_s", model.EpochMillis: "epoch_ms", model.EpochMicros: "epoch_us",
	model.EpochNanos: "epoch_ns", model.EpochDays: "epoch_days",
}

// Scalar is what the definitions call the type of a value that is neither object, list nor map.
func Scalar(t model.FieldType) string {
	if word, ok := notations[t.Notation]; ok {
		return word
	}
	switch t.Notation {
	case model.Array:
		return kinds[t.Kind] + "_array"
	case model.Unscaled:
		return "decimal_bytes(" + strconv.Itoa(t.Scale) + ")"
	case model.WithScale:
		return "decimal_struct"
	}
	return kinds[t.Kind]
}

func typeDef(t model.FieldType) string {
	def := Scalar(t)
	switch t.Kind {
	case model.Object:
		members := make([]string, len(t.Named.Fields))
		for i, f := range t.Named.Fields {
			members[i] = f.Name + " " + Field(f)
		}
		def = "object(" + strings.Join(members, ", ") + ")"
	case model.List:
		def = "list(" + typeDef(*t.Elem) + ")"
	case model.Map:
		def = "map(" + typeDef(*t.Elem) + ")"
	}
	if t.Optional {
		return "optional " + def
	}
	return def
}
