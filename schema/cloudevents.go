package schema

import "regexp"

var attributeName = regexp.MustCompile(`^[a-z0-9]{1,40}$`)

// readAttribute reads the name of a CloudEvents attribute as the header that it is in binary mode.
func readAttribute(w *walker, e entry) (*Text, bool) {
	t, ok := w.full(e)
	switch {
	case !ok:
		return nil, false
	case t.Value == "data":
		w.ds.Add(t.Pos, "E306", "data is no attribute of a CloudEvent", "paths start inside the data: {path: order_id}; the whole of it is {path: $}")
		return nil, false
	case !attributeName.MatchString(t.Value):
		w.ds.Add(t.Pos, "E201", quote(t.Value)+" is not a valid name of a CloudEvents attribute", "such names are lower-case letters and digits, without ce_ before them")
		return nil, false
	}
	header := *t
	header.Value = "ce_" + t.Value
	if t.Value == "datacontenttype" {
		header.Value = "content-type"
	}
	return &header, true
}

// attributeValue is the value of the key "ce": it goes where a header does, and is marked.
func attributeValue[T any](header func(*T) **Text, marked func(*T) *bool) value[T] {
	return value[T]{scalarShape, func(w *walker, e entry, into *T) bool {
		t, ok := readAttribute(w, e)
		if ok {
			if *header(into) == nil {
				*header(into) = t
			}
			*marked(into) = true
		}
		return ok
	}}
}
