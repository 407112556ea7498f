package wire

import (
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// Decoder decodes records in one format. Each format has its own package, such as strictjson. A
// plan owns one decoder and passes it to [Event.Take]. A Decoder is not safe for concurrent use.
type Decoder interface {
	// Borrow starts decoding m. The decoded values may point into m and into the decoder, and are
	// valid until the next Borrow. It is for values that are copied immediately.
	Borrow(m *Message)
	// Reset starts decoding m. The caller owns the decoded values.
	Reset(m *Message)
	// Finish returns the first error since Borrow or Reset, as a [*DecodeError] of event.
	Finish(event string) error
}

// Reader is what the decoders of all formats have in common: the first error, the values outside
// of the payload (headers, the record key, metadata), and the memory of decoded values. The
// decoder of a format embeds it.
type Reader struct {
	err      *DecodeError
	owned    bool
	bytes    []byte // what headers and keys were decoded into
	optional optionals
}

// Lend empties the reader: values that are read are valid until the next Lend.
func (r *Reader) Lend() {
	if r.owned {
		*r = Reader{} // its memory belongs to the caller of Own
	}
	r.err = nil
	r.bytes = r.bytes[:0]
	r.optional.reset()
}

// Own empties the reader: the caller owns the values that are read.
func (r *Reader) Own() { *r = Reader{owned: true} }

// Owned reports whether the caller owns the values that are read, so that they must not point into
// the record.
func (r *Reader) Owned() bool { return r.owned }

// Fail records an error unless there is one already; at is 0 for values outside of the payload.
func (r *Reader) Fail(path string, at int, reason string) {
	if r.err == nil {
		r.err = &DecodeError{Path: path, At: at, Reason: reason}
	}
}

// Failure returns the first error, or nil.
func (r *Reader) Failure() *DecodeError { return r.err }

// Err returns the first error as a [*DecodeError] of event.
func (r *Reader) Err(event string) error {
	if r.err == nil {
		return nil // not a nil pointer in an interface
	}
	r.err.Event = event
	return r.err
}

// Same records an error unless equal is true: the field at path and the part of the record key
// with the same name must have the same value.
func (r *Reader) Same(path string, equal bool) {
	if !equal {
		r.Fail(path, 0, "differs from the record key")
	}
}

// Header returns the value of the only header called name. A missing, repeated or null
// header is an error.
func (r *Reader) Header(m *Message, name string) Text {
	raw, err := m.Header(name)
	if err != nil {
		return r.refuse("header "+name, err.(*DecodeError).Reason)
	}
	return r.text(raw, "header ", name)
}

// OptHeader returns the value of the only header called name, and false if it is missing or null.
// A repeated header is an error.
func (r *Reader) OptHeader(m *Message, name string) (Text, bool) {
	raw, n := m.find(name)
	if raw == nil && n < 2 {
		return Text{}, false
	}
	t := r.Header(m, name)
	return t, t.r != nil
}

// DefaultHeader is OptHeader for a field with a default. The default is used only if the header is
// missing: a null header is an error.
func (r *Reader) DefaultHeader(m *Message, name string) (Text, bool) {
	if _, n := m.find(name); n == 0 {
		return Text{}, false
	}
	t := r.Header(m, name)
	return t, t.r != nil
}

// RecordKey returns the whole key of the record. A missing or empty key is an error, and so is an
// unpacked one with a value that cannot be read.
func (r *Reader) RecordKey(m *Message) Text {
	switch {
	case m.Key == nil:
		return r.refuse("record key", "is missing")
	case len(m.Key) == 0:
		return r.refuse("record key", "is empty")
	}
	if why := notation.Refused(m.Key, m.whyKey); why != "" {
		return r.refuse("record key", "holds a value that "+why)
	}
	return r.text(m.Key, "record key", "")
}

// RecordValue returns the whole value of the record. A missing value is an error, and so is an
// unpacked one with a value that cannot be read.
func (r *Reader) RecordValue(m *Message) Text {
	if m.Value == nil {
		return r.refuse("record value", "is missing")
	}
	if why := notation.Refused(m.Value, m.why); why != "" {
		return r.refuse("record value", "holds a value that "+why)
	}
	return r.text(m.Value, "record value", "")
}

// RecordTime returns the record's timestamp in UTC, truncated to microseconds. It is an error if
// the record has no timestamp, or if its year is outside 0000 to 9999.
func (r *Reader) RecordTime(m *Message) time.Time {
	if m.Time.IsZero() {
		r.Fail("record timestamp", 0, "is missing")
	} else if y := m.Time.UTC().Year(); y < 0 || y > 9999 {
		r.Fail("record timestamp", 0, notation.OutOfRange)
	}
	if r.err != nil {
		return time.Time{}
	}
	return time.UnixMicro(m.Time.UnixMicro()).UTC()
}

func (r *Reader) text(raw []byte, from, name string) Text {
	if r.err != nil {
		return Text{}
	}
	return Text{r, raw, from, name}
}

func (r *Reader) refuse(path, reason string) Text {
	r.Fail(path, 0, reason)
	return Text{}
}

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
