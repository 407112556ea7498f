package state

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// keys returns the definitions of every event that stores a key, in spec order.
func keys(s *model.Service) []Key {
	var all []Key
	for _, t := range s.Topics {
		for _, e := range t.Events {
			if e.Key == nil || e.Key.Offset {
				continue
			}
			k := Key{Topic: t.Name, Event: e.Name, Space: hex.EncodeToString(e.Key.Space[:]), Window: e.Key.Window}
			k.Parts = partDefs(e.Key.Parts)
			for _, former := range e.Key.Former {
				k.Also = append(k.Also, source(partDefs(former.Parts)))
			}
			if e.Key.SamePartition {
				k.Copies = "same_partition"
			}
			for _, f := range e.Key.Compared {
				k.Compare = append(k.Compare, Entry{f.Name, fieldDef(f)})
			}
			all = append(all, k)
		}
	}
	return all
}

// changed reports whether a stored key may no longer mean what it meant, or is stored
// elsewhere: a definition changed or went. A new event stores its keys under the number as it
// stands. Former sources change nothing: what is stored under them was made by their key.
func changed(old, next []Key) bool {
	for _, o := range old {
		same := func(n Key) bool {
			return n.Topic == o.Topic && n.Event == o.Event && n.Space == o.Space && n.Copies == o.Copies &&
				slices.Equal(n.Parts, o.Parts) && slices.Equal(n.Compare, o.Compare)
		}
		if !slices.ContainsFunc(next, same) {
			return true
		}
	}
	return false
}

// partDefs are the parts of a source. An optional field gives the key that it gave when it
// was required.
func partDefs(parts []model.KeySource) (defs []string) {
	for _, p := range parts {
		if p.Field == nil {
			defs = append(defs, "header "+strconv.Quote(p.Header))
			continue
		}
		f := *p.Field
		f.Type.Optional = false
		defs = append(defs, "field "+f.Name+" "+fieldDef(&f))
	}
	return defs
}

// source is what also holds of a source.
func source(parts []string) string { return strings.Join(parts, " + ") }

// fieldDef is everything of a field that decides its value.
func fieldDef(f *model.Field) string {
	def := typeDef(f.Type)
	switch f.Source.Kind {
	case model.FromPayload:
		if len(f.Source.Path) != 1 || f.Source.Path[0] != f.Name {
			def += " path " + pathDef(f.Source.Path)
		}
	case model.FromHeader:
		def += " header " + strconv.Quote(f.Source.Header)
	case model.FromRecord:
		def += " record " + f.Source.Record
	case model.FromRecordKey:
		def += " record_key " + pathDef(f.Source.Part.Path)
	}
	if f.Default != nil {
		def += " default " + strconv.Quote(f.Default.Text)
	}
	return def
}

// pathDef is a path of member names, which may hold dots themselves.
func pathDef(path []string) string {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = strings.NewReplacer(`\`, `\\`, `.`, `\.`).Replace(name)
	}
	return "$" + strings.Join(append([]string{""}, names...), ".")
}

var kindNames = map[model.Kind]string{
	model.String: "string", model.UUID: "uuid", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64",
	model.Float64: "float64", model.Decimal: "decimal", model.Timestamp: "timestamp", model.EpochS: "epoch_s",
	model.EpochMS: "epoch_ms", model.EpochUS: "epoch_us", model.EpochNS: "epoch_ns", model.LocalTimestamp: "local_timestamp",
	model.Date: "date", model.EpochDays: "epoch_days", model.Bytes: "bytes", model.JSON: "json", model.Enum: "enum",
}

func typeDef(t model.FieldType) string {
	def := kindNames[t.Kind]
	switch t.Kind {
	case model.Object:
		members := make([]string, len(t.Named.Fields))
		for i, f := range t.Named.Fields {
			members[i] = f.Name + " " + fieldDef(f)
		}
		def = "object(" + strings.Join(members, ", ") + ")"
	case model.List:
		def = "list(" + typeDef(*t.Elem) + ")"
	}
	if t.Optional {
		return "optional " + def
	}
	return def
}
