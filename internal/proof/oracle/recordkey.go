package oracle

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// keyPart reads one part of the record key: the whole key's text, or a member of the
// JSON object that the key is.
func (d *decoder) keyPart(part *model.KeyPart, rk *model.RecordKey, r *Record, at int) value {
	const path = "record key"
	f := &model.Field{Type: part.Type, Source: model.Source{Path: part.Path}}
	if len(r.Key) == 0 {
		d.fail(at, path, whyMissing)
		return nil
	}
	if rk.Encoding == "binary" {
		return d.binary(part.Type, r.Key, at, path)
	}
	if !rk.JSON {
		return d.text(part.Type, string(r.Key), at, path)
	}
	inner := &decoder{src: r.Key, depth: d.depth}
	root, err := parseJSON(r.Key, d.depth)
	if err != nil {
		d.fail(at, path, err.detail)
		return nil
	}
	n, innerPath := inner.find(root, part.Path, path)
	v := inner.field(f, n, innerPath, root)
	if bad := first(inner.faults); bad != nil {
		d.fail(at, bad.path, bad.detail)
		return nil
	}
	return v
}

// metadata reads what Kafka knows about the record.
func (d *decoder) metadata(f *model.Field, r *Record, at int) value {
	path := fieldPath(f)
	switch f.Source.Record {
	case "topic":
		return r.Topic
	case "partition":
		return int64(r.Partition)
	case "offset":
		return r.Offset
	case "timestamp":
		return d.recordTime(r.Time, at, path)
	case "key":
		return d.raw(f, r.Key, at, path)
	default:
		for place, why := range r.why {
			if r.Value[place] == '"' { // a text in place of a value that cannot be read
				d.fail(at, path, "holds a value that "+why)
				return nil
			}
		}
		return d.raw(f, r.Value, at, path)
	}
}

func (d *decoder) recordTime(t time.Time, at int, path string) value {
	switch {
	case t.IsZero():
		d.fail(at, path, whyMissing)
	case t.UTC().Year() < 0 || t.UTC().Year() > 9999:
		d.fail(at, path, errNotTime.Error())
	default:
		return instant(t.UnixMicro())
	}
	return nil
}

// raw reads a record's whole key or value by the field's type; bytes are taken as they
// are, everything else is text. A key of no bytes names nothing and is refused.
func (d *decoder) raw(f *model.Field, raw []byte, at int, path string) value {
	switch {
	case raw == nil, len(raw) == 0 && f.Source.Record == "key":
		d.fail(at, path, whyMissing)
	case f.Type.Kind == model.Bytes:
		return raw
	default:
		return d.text(f.Type, string(raw), at, path)
	}
	return nil
}
