package oracle

import "github.com/idemgen/idemgen/generator/model"

// member decodes a field below a holder. Of several paths the first that is there counts; what it
// holds is looked at when the holder closes, and the others are passed over.
func (d *decoder) member(f *model.Field, holder *node, path string) value {
	n, at := d.find(holder, f.Source.Path, path)
	if len(f.Source.Or) == 0 {
		return d.field(f, n, at, holder)
	}
	for _, or := range f.Source.Or {
		if other, otherAt := d.find(holder, or, path); n == nil && other != nil {
			n, at = other, otherAt
		}
	}
	if holder.truncated {
		return nil
	}
	before := len(d.faults)
	v := d.field(f, n, at, holder)
	if bad := first(d.faults[before:]); bad != nil {
		bad.at = holder.end - 1
		d.faults = append(d.faults[:before], bad)
	}
	return v
}
