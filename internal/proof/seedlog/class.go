package seedlog

import "github.com/idemgen/idemgen/internal/gen/model"

// class is what has one value for one row: see [roles].
type class struct {
	label    string      // what strings of the class start with
	row      bool        // it identifies rows or the record key
	element  bool        // elements of a list carry it: numbered within their record
	added    bool        // to a column
	taken    bool        // from a column
	uuid     bool        // some member is a uuid, so texts are too
	length   int         // most characters; 0 = any
	exactly  bool        // exactly length characters
	whole    int         // most digits before the point; -1 = any
	fraction int         // most digits after the point; -1 = any
	enum     *model.Type // some member is of it
	parsed   string      // Postgres reads a type of this name from the texts
}

func newClass() *class { return &class{whole: -1, fraction: -1} }

// limit keeps values of the class within a column.
func (c *class) limit(t model.ColType) {
	switch t.Kind {
	case model.ColVarchar, model.ColChar:
		if c.length == 0 || t.Len < c.length {
			c.length = t.Len
		}
		c.exactly = c.exactly || t.Kind == model.ColChar
	case model.ColParsed:
		c.parsed = t.Name
	case model.ColSmallint:
		c.whole = 4
	case model.ColNumeric:
		if t.Precision == 0 {
			return
		}
		if whole := max(0, t.Precision-t.Scale); c.whole < 0 || whole < c.whole {
			c.whole = whole
		}
		if c.fraction < 0 || t.Scale < c.fraction {
			c.fraction = t.Scale
		}
	}
}
