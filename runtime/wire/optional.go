package wire

import "time"

// optionals is the memory that pointers to optional values point into.
type optionals struct {
	texts    []string
	uuids    []UUID
	bools    []bool
	int32s   []int32
	int64s   []int64
	floats   []float64
	decimals []Decimal
	times    []time.Time
	locals   []LocalTime
	dates    []Date
}

func (o *optionals) reset() {
	o.texts, o.uuids, o.bools = o.texts[:0], o.uuids[:0], o.bools[:0]
	o.int32s, o.int64s, o.floats = o.int32s[:0], o.int64s[:0], o.floats[:0]
	o.decimals, o.times = o.decimals[:0], o.times[:0]
	o.locals, o.dates = o.locals[:0], o.dates[:0]
}

// Keep returns a pointer to v, for an optional field. It is valid as long as the values that r
// reads.
func Keep[T any](r *Reader, v T) *T {
	o := &r.optional
	switch p := any(&v).(type) {
	case *string:
		return any(keep(&o.texts, *p)).(*T)
	case *UUID:
		return any(keep(&o.uuids, *p)).(*T)
	case *bool:
		return any(keep(&o.bools, *p)).(*T)
	case *int32:
		return any(keep(&o.int32s, *p)).(*T)
	case *int64:
		return any(keep(&o.int64s, *p)).(*T)
	case *float64:
		return any(keep(&o.floats, *p)).(*T)
	case *Decimal:
		return any(keep(&o.decimals, *p)).(*T)
	case *time.Time:
		return any(keep(&o.times, *p)).(*T)
	case *LocalTime:
		return any(keep(&o.locals, *p)).(*T)
	case *Date:
		return any(keep(&o.dates, *p)).(*T)
	}
	return new(v)
}

// KeepEnum returns a pointer to texts[i], for an optional field. It is valid as long as the values
// that r reads.
func KeepEnum[T ~string](r *Reader, texts []T, i int) *T {
	if r.owned {
		return new(texts[i]) // the owner may change it
	}
	return &texts[i]
}

// keep adds v to what was handed out. Growing moves the slice, but never what was handed out.
func keep[T any](all *[]T, v T) *T {
	*all = append(*all, v)
	return &(*all)[len(*all)-1]
}

// OrNull sets a parameter with set, a method of r, or sets it to NULL if v is nil:
// wire.OrNull(r, r.Text, e.Note).
func OrNull[T any](r *Rows, set func(T), v *T) {
	if v != nil {
		set(*v)
		return
	}
	var zero T
	at := r.at()
	set(zero)
	r.null(at)
}

// SliceOrNull is [OrNull] for types whose nil value means NULL: bytes, JSON and arrays.
func SliceOrNull[E any](r *Rows, set func([]E), v []E) {
	if v != nil {
		set(v)
		return
	}
	at := r.at()
	set(nil)
	r.null(at)
}

// IfPresent adds a field of an event's content with add, a method of a [Fingerprint], unless v is
// nil: wire.IfPresent(f.Text, "note", e.Note).
func IfPresent[T any](add func(name string, v T), name string, v *T) {
	if v != nil {
		add(name, *v)
	}
}
