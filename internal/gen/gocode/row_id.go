package gocode

import (
	"github.com/idemgen/idemgen/internal/gen/model"
)

// rowID is the expression that identifies a row by its primary key. It fails for keys
// that Postgres compares in a way that Go cannot tell, and for values that are not
// known here.
func rowID(s *model.Step, table *model.Table, values []model.Value) (*expr, bool) {
	if len(values) != len(table.PrimaryKey) {
		return nil, false
	}
	id := wire("Row").Call(lit(table.Name))
	for i, c := range table.PrimaryKey {
		method, arg := identity(s, table, i, c, values[i])
		if method == "" {
			return nil, false
		}
		id.Dot(method).Call(arg)
	}
	return id, true
}

// identity returns the method of wire.RowID and its argument for one column. The form
// depends on the column, so that every step names a row alike.
func identity(s *model.Step, table *model.Table, i int, c *model.Column, v model.Value) (method string, arg code) {
	if v.Kind == model.NowValue || v.Kind == model.NullValue {
		return "", nil
	}
	src, methods := "", "" // the value, and what its methods are called on
	if v.Kind != model.ConstValue {
		methods = source(s, v)
		src = deref(methods, s.TypeOf(v))
	}
	switch c.Type.Kind {
	case model.ColText, model.ColVarchar, model.ColChar:
		return textIdentity(s, v, src, methods, keyKinds(s.Event.Topic, table, i))
	case model.ColUUID:
		if v.Kind == model.ConstValue {
			id, err := uuidLiteral(v.Const.Text)
			if err != nil {
				return "", nil
			}
			return "UUID", id
		}
		return "UUID", text(src)
	case model.ColBoolean:
		if v.Kind == model.ConstValue {
			return "Text", lit(v.Const.Text)
		}
		return "Text", qual("strconv", "FormatBool").Call(text(src))
	case model.ColSmallint, model.ColInteger, model.ColBigint:
		if v.Kind == model.ConstValue {
			return "Int", text(v.Const.Text)
		}
		return "Int", integer(s, v, src)
	case model.ColTimestamptz:
		if v.Kind != model.ConstValue {
			return "Int", text(methods + ".UnixMicro()")
		}
	case model.ColTimestamp, model.ColDate:
		if v.Kind != model.ConstValue {
			return "Int", text("int64(%s)", src)
		}
	case model.ColBytea:
		if v.Kind != model.ConstValue {
			return "Text", text("string(%s)", src)
		}
	}
	return "", nil
}

func textIdentity(s *model.Step, v model.Value, src, methods string, used map[model.Kind]bool) (method string, arg code) {
	if v.Kind == model.ConstValue {
		return "Text", lit(v.Const.Text)
	}
	switch kind := s.TypeOf(v).Kind; {
	case kind == model.UUID && len(used) == 1:
		return "UUID", text(src) // no text is made of it, since nobody compares it with one
	case kind == model.UUID:
		return "Text", text(methods + ".String()")
	case kind == model.Enum:
		return "Text", text("string(%s)", src)
	}
	return "Text", text(src)
}

// keyKinds are the kinds of all values by which the topic names column i of a table's
// primary key; 0 stands for constants.
func keyKinds(t *model.Topic, table *model.Table, i int) map[model.Kind]bool {
	used := map[model.Kind]bool{}
	note := func(s *model.Step, values []model.Value) {
		switch {
		case i >= len(values):
		case values[i].Sent():
			used[s.TypeOf(values[i]).Kind] = true
		default:
			used[0] = true
		}
	}
	for _, s := range t.Flush {
		if s.Table == table {
			note(s, keyValues(s))
		}
		for _, r := range s.Reads {
			if r.Table == table {
				note(s, r.Values)
			}
		}
	}
	return used
}

func integer(s *model.Step, v model.Value, src string) code {
	if v.Kind == model.PositionValue {
		return text("int64(i + 1)")
	}
	if s.TypeOf(v).Kind == model.Int64 {
		return text(src)
	}
	return text("int64(%s)", src)
}

// deref is the value that src, which is not nil, holds or points to.
func deref(src string, t model.FieldType) string {
	if t.Optional && !nilable(t) {
		return "*" + src
	}
	return src
}
