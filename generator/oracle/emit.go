package oracle

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// emitted are the rows of an emit, one per element.
func (e *event) emitted(em *model.Emit, elements []element) ([]stepRow, *fault) {
	var rows []stepRow
	for _, el := range elements {
		values := map[*model.Field]value{}
		for _, set := range em.Set {
			v, f := e.sends(set, el)
			if f != nil {
				return nil, f
			}
			values[set.Field] = v
		}
		rows = append(rows, stepRow{sends: outRow(e.outbox.Table, em.Of, values)})
	}
	return rows, nil
}

// sends is the value of one field.
func (e *event) sends(set model.Filled, el element) (value, *fault) {
	switch v := set.Value; v.Kind {
	case model.FieldValue:
		return e.values[v.Field], nil
	case model.ResultValue:
		return e.result[v.Field], nil
	case model.PositionValue:
		return el.position, nil
	case model.ElemValue:
		if v.Field == nil {
			return el.value, nil
		}
		if o, ok := el.value.(*object); ok {
			return o.member(v.Field), nil
		}
		return nil, nil
	default:
		t := set.Field.Type
		if t.Kind == model.Enum || t.Kind == model.String {
			return v.Const.Text, nil
		}
		got, why := parseText(t, v.Const.Text)
		if why != "" {
			return nil, misfit("constant: %s", why)
		}
		return got, nil
	}
}

// outRow is the row of an event that is sent.
func outRow(table *model.Table, of *model.OutEvent, values map[*model.Field]value) []assigned {
	var row []assigned
	put := func(column string, c cell) {
		at := slices.IndexFunc(table.Columns, func(c *model.Column) bool { return c.Name == column })
		row = append(row, assigned{column: table.Columns[at], cell: c})
	}
	put("event_id", now{})
	put("topic", of.Topic)
	put("record_key", outText(of.Key.Type, values[of.Key]))
	put("event_type", of.Type)
	if of.Tombstone {
		put("payload", nil)
	} else {
		put("payload", outPayload(of, values))
	}
	for _, h := range of.Headers {
		if v := values[h.Field]; v != nil {
			put(h.Header.Column.Name, outText(h.Field.Type, v))
		}
	}
	return row
}

func outPayload(of *model.OutEvent, values map[*model.Field]value) cell {
	parts := make([]string, len(of.Payload))
	for i, f := range of.Payload {
		parts[i] = quote(f.Source.Path[0]) + ":" + outJSON(f.Type, values[f])
	}
	text, _ := jsonCell(model.ColType{Kind: model.ColJSON}, "{"+strings.Join(parts, ",")+"}")
	return text
}

// SentPayload is the payload of an outbox event in the form of Values. The error says why the
// document cannot be one.
func SentPayload(of *model.OutEvent, document []byte, depth int) (string, error) {
	d := &decoder{depth: depth}
	p := &payload{record: &Record{Value: document}}
	d.payload(p, of.Payload)
	values := map[*model.Field]value{}
	for _, f := range of.Payload {
		if p.root != nil {
			values[f] = d.member(f, p.root, "")
		}
	}
	if f := first(d.faults); f != nil {
		return "", errors.New(strings.TrimPrefix(f.path+": "+f.detail, ": "))
	}
	return format(model.ColType{Kind: model.ColJSON}, outPayload(of, values)), nil
}

// SentText is a record key or header of an outbox event in the form of Values.
func SentText(f *model.Field, text string) (string, error) {
	v, why := parseText(uncoded(f.Type), text)
	if why != "" {
		return "", errors.New(why)
	}
	return quote(outText(f.Type, v)), nil
}

// outJSON is a value as its field says that payloads hold it.
func outJSON(t model.FieldType, v value) string {
	switch v := v.(type) {
	case instant:
		if unit := t.Notation.Unit(); unit != 0 {
			return strconv.FormatInt(v.time().UnixNano()/int64(unit), 10)
		}
	case day:
		if t.Notation == model.EpochDays {
			return strconv.FormatInt(int64(v), 10)
		}
	case []byte:
		switch t.Notation {
		case model.Hex:
			return quote(hex.EncodeToString(v))
		case model.Base64URL:
			return quote(base64.RawURLEncoding.EncodeToString(v))
		}
	case list:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = outJSON(*t.Elem, e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case mapping:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, quote(name)+":"+outJSON(*t.Elem, v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *object:
		parts := make([]string, len(v.values))
		for i, m := range t.Named.Fields {
			parts[i] = quote(m.Source.Path[0]) + ":" + outJSON(m.Type, v.values[i])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return sentJSON(v)
}

// outText is a value as a record key or a header holds it.
func outText(t model.FieldType, v value) string {
	if text, ok := v.(string); ok {
		return text
	}
	return strings.Trim(outJSON(t, v), `"`)
}
