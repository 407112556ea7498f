package handler

import (
	sqldriver "database/sql/driver"
	"reflect"
)

// deepest limits how far occupied looks into a value, which may refer to itself.
const deepest = 10

var valuer = reflect.TypeFor[sqldriver.Valuer]()

// occupied is roughly how many bytes an argument occupies. It does not look into structs behind
// pointers, maps in structs, and values that encode themselves: other goroutines may change them.
func occupied(v reflect.Value, depth int) int {
	n := 0
	if v.IsValid() {
		n = int(v.Type().Size())
	}
	if depth > deepest || !v.IsValid() || v.Type().Implements(valuer) {
		return n
	}
	switch v.Kind() {
	case reflect.String:
		n += v.Len()
	case reflect.Pointer, reflect.Interface:
		if !foreign(v.Type()) {
			n += occupied(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() <= reflect.Complex128 {
			return n + v.Len()*int(v.Type().Elem().Size())
		}
		for i := range v.Len() {
			n += occupied(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			n += occupied(v.Index(i), depth+1) - int(v.Type().Elem().Size())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() != reflect.Map && f.Kind() != reflect.Interface {
				n += occupied(f, depth+1) - int(f.Type().Size())
			}
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			n += occupied(at.Key(), depth+1) + occupied(at.Value(), depth+1)
		}
	}
	return n
}

// foreign reports whether a pointer leads to what may be no part of the argument.
func foreign(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer {
		return false
	}
	to := t.Elem().Kind()
	return to == reflect.Struct || to == reflect.Map || to == reflect.Interface
}
