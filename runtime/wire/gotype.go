package wire

import (
	"encoding"
	"fmt"
	"strconv"
	"strings"
)

// Parse reads a value as a Go type of the service's own, by its UnmarshalText. A value that the
// type refuses, or panics over, is an error of the record.
func Parse[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](r *Reader, path string, v encoding.TextMarshaler) (out T) {
	if r.err != nil {
		return out
	}
	text, err := v.MarshalText()
	if err == nil {
		err = unmarshalText(P(&out), text)
	}
	if err != nil { // its text may hold the value
		r.Fail(path, 0, fmt.Sprintf("is refused by the Go type %T", out))
	}
	return out
}

// unmarshalText is UnmarshalText of the service's code: a panic is an error.
func unmarshalText(into encoding.TextUnmarshaler, text []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T", p)
		}
	}()
	return into.UnmarshalText(text)
}

// Some converts an optional value, if it is there.
func Some[A, B any](v *A, to func(A) B) *B {
	if v == nil {
		return nil
	}
	return new(to(*v))
}

// PatchOf converts the value of a patch, if it has one.
func PatchOf[A, B any](p Patch[A], to func(A) B) Patch[B] {
	out := Patch[B]{State: p.State}
	if p.State == PatchValue {
		out.Value = to(p.Value)
	}
	return out
}

// Each converts the elements of the list at path. nil stays nil.
func Each[A, B any](r *Reader, path string, list []A, to func(A) B) []B {
	if list == nil || r.err != nil {
		return nil
	}
	out := make([]B, len(list))
	for i, v := range list {
		if out[i] = to(v); r.err != nil {
			r.err.Path = joined(path+"["+strconv.Itoa(i)+"]", r.err.Path)
			break
		}
	}
	return out
}

// Values converts the values of the map at path. nil stays nil. An error names the map only: the
// names in it are data.
func Values[A, B any](r *Reader, path string, values map[string]A, to func(A) B) map[string]B {
	if values == nil || r.err != nil {
		return nil
	}
	out := make(map[string]B, len(values))
	for name, v := range values {
		if out[name] = to(v); r.err != nil {
			r.err.Path = path
			break
		}
	}
	return out
}

// Member converts the object at path.
func Member[A, B any](r *Reader, path string, v A, to func(A) B) (out B) {
	if r.err != nil {
		return out
	}
	if out = to(v); r.err != nil {
		r.err.Path = joined(path, r.err.Path)
	}
	return out
}

// joined is the path of what is inside of something.
func joined(path, inside string) string {
	if inside == "" || path == "" || strings.HasPrefix(inside, "[") {
		return path + inside
	}
	return path + "." + inside
}
