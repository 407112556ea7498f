package commandtest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

// EveryPage fails unless every page can be made of its value, whether all of it is there or as
// little as possible. values are pointers, by page.
func EveryPage(t *testing.T, pages *command.Pages, values map[string]any) {
	t.Helper()
	for _, name := range pages.Names() {
		value, known := values[name]
		if !known {
			t.Errorf("no value for page %q", name)
			continue
		}
		for _, how := range []string{"little", "all"} {
			out, err := pages.Text(name, value)
			if err != nil || strings.Contains(out, "0xc0") || strings.Contains(out, "<nil>") || strings.Contains(out, "%!") {
				t.Errorf("%s, with %s of it: %v\n%s", name, how, err, out)
			}
			fill(reflect.ValueOf(value).Elem(), 0)
		}
	}
}

// fill gives every exported field below v a value that is not zero.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 8 && v.CanSet() {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_800_000_000, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth+1)
		fill(v.Index(1), depth+1)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(120)
	case reflect.Float64:
		v.SetFloat(120)
	}
}
