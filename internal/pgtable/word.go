package pgtable

import (
	"regexp"
	"strconv"
	"strings"
)

// words are the spec's words for types that Postgres writes otherwise, or in the same way.
var words = map[string]string{
	"text": "text", "character varying": "text", "boolean": "boolean", "smallint": "smallint", "integer": "integer", "bigint": "bigint",
	"numeric": "numeric", "real": "real", "double precision": "double precision", "uuid": "uuid", "date": "date", "bytea": "bytea", "jsonb": "jsonb", "json": "json",
	"timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
	"time without time zone": "time", "time with time zone": "timetz", "bit varying": "varbit",
	"interval": "interval", "inet": "inet", "cidr": "cidr", "macaddr": "macaddr", "macaddr8": "macaddr8", "citext": "citext",
	"point": "point", "line": "line", "lseg": "lseg", "box": "box", "path": "path", "polygon": "polygon", "circle": "circle",
	"int4range": "int4range", "int8range": "int8range", "numrange": "numrange", "daterange": "daterange", "tsrange": "tsrange", "tstzrange": "tstzrange",
	"int4multirange": "int4multirange", "int8multirange": "int8multirange", "nummultirange": "nummultirange",
	"datemultirange": "datemultirange", "tsmultirange": "tsmultirange", "tstzmultirange": "tstzmultirange",
}

// noArray are the words that a spec has no arrays of.
var noArray = map[string]bool{"bytea": true, "jsonb": true, "json": true}

var (
	quotedName = regexp.MustCompile(`"([a-z_][a-z0-9_]*)"`)
	sized      = regexp.MustCompile(`^(character varying|character|numeric)\(([0-9]+)(?:,([0-9]+))?\)$`)
	nameable   = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
)

// name finds the spec's word for the column's type. With the setting quote_all_identifiers the
// server quotes its names, and one name it quotes always.
func (c *Column) name() {
	base := c.Base
	if base.Text != `"char"` {
		base.Text = quotedName.ReplaceAllString(base.Text, "$1")
	}
	if c.Type = words[base.Text]; c.Type != "" {
		c.Known = true
		return
	}
	if elem, ok := strings.CutSuffix(base.Text, "[]"); ok && words[elem] != "" && !noArray[elem] && elem != "character varying" {
		c.Type, c.Known = words[elem]+" array", true
		return
	}
	c.Type = base.Text
	switch size := sized.FindStringSubmatch(base.Text); {
	case size != nil && size[1] == "numeric":
		precision, _ := strconv.Atoi(size[2])
		scale, _ := strconv.Atoi(size[3])
		c.Known = scale <= precision
	case size != nil:
		c.Type = map[string]string{"character varying": "varchar", "character": "char"}[size[1]] + "(" + size[2] + ")"
		c.Known = true
	case base.Schema != "pg_catalog" && !strings.HasSuffix(base.Text, "[]"):
		c.Type, c.Known = "named("+base.Schema+"."+base.Name+")", nameable.MatchString(base.Schema) && nameable.MatchString(base.Name)
	}
}

// holds reports whether a column of one type takes each value of another one, and means the same
// by it.
func holds(have, want string) bool {
	if have == want {
		return true
	}
	h, w := cut(have), cut(want)
	switch w.name {
	case "smallint":
		return have == "integer" || have == "bigint"
	case "integer":
		return have == "bigint"
	case "varchar", "char":
		return have == "text" || h.name == "varchar" && h.size >= w.size
	case "numeric":
		return h.name == "numeric" && w.size > 0 && (h.size == 0 || h.scale >= w.scale && h.size-h.scale >= w.size-w.scale)
	}
	return false
}

// typeParts are a type word, taken apart.
type typeParts struct {
	name        string
	size, scale int // 0 if it has none
}

func cut(word string) (p typeParts) {
	name, rest, found := strings.Cut(word, "(")
	p.name = name
	if found {
		size, scale, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ",")
		p.size, _ = strconv.Atoi(size)
		p.scale, _ = strconv.Atoi(scale)
	}
	return p
}
