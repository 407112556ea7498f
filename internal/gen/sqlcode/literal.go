package sqlcode

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// columnType writes a column's type as CREATE TABLE takes it.
func columnType(t model.ColType) string {
	switch t.Kind {
	case model.ColVarchar, model.ColChar:
		return baseType(t) + "(" + itoa(t.Len) + ")"
	case model.ColNumeric:
		if t.Precision > 0 {
			return "numeric(" + itoa(t.Precision) + "," + itoa(t.Scale) + ")"
		}
	}
	return baseType(t)
}

// baseType is the type without length and precision.
func baseType(t model.ColType) string {
	switch t.Kind {
	case model.ColVarchar:
		return "varchar"
	case model.ColChar:
		return "char"
	case model.ColNamed:
		return qualified(t.Name)
	case model.ColParsed:
		return t.Name
	case model.ColArray:
		return baseType(t.Element()) + "[]"
	}
	return model.ColumnWords[t.Kind]
}

// castType is the type to which an expression is cast for a column. Lengths are left out: a
// cast to varchar(n) or char(n) would cut what is too long, where an insert refuses it.
func castType(t model.ColType) string {
	if t.Kind == model.ColChar {
		return "bpchar" // char alone is char(1)
	}
	return baseType(t)
}

// literal writes a constant where Postgres gives it the column's type: as a default, or
// assigned to or compared with the column, unless that is a real.
func literal(t model.ColType, c *model.Constant) (string, error) {
	switch t.Kind {
	case model.ColBoolean, model.ColSmallint, model.ColInteger, model.ColBigint, model.ColNumeric, model.ColReal, model.ColDouble:
		return c.Text, nil
	}
	text, err := c.In(t)
	return quote(text), err
}

// typedLiteral writes a constant that must bring its type, in a select list. Text becomes
// text there, which Postgres assigns to varchar and char as it is.
func typedLiteral(t model.ColType, c *model.Constant) (string, error) {
	text, err := literal(t, c)
	switch t.Kind {
	case model.ColText, model.ColVarchar, model.ColBoolean, model.ColInteger, model.ColBigint, model.ColNumeric, model.ColDouble:
		return text, err
	}
	if strings.HasPrefix(text, "-") {
		text = "(" + text + ")" // the cast binds closer than the sign, and 32768 is no smallint
	}
	return text + "::" + castType(t), err
}

// quote writes text as an SQL string. Backslashes and characters that nobody sees are
// escaped, so that the string means the same under every setting of the database, and
// stands in a Go file, a migration and a diff as it is.
func quote(text string) string {
	text = strings.ReplaceAll(text, "'", "''")
	if !strings.Contains(text, `\`) && !strings.ContainsFunc(text, hidden) {
		return "'" + text + "'"
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '\n':
			b.WriteString(`\n`)
		case !hidden(c):
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	return "E'" + b.String() + "'"
}
