// Package options checks which options of franz-go's client are set.
//
// It must not import any other package of this module.
package options

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Refusal is an option that must not be changed, and the reason.
type Refusal struct {
	Option any // the function, as kgo.ClientID
	Why    string
}

// Check returns an error that names every refused option whose value options change from that in
// usual. Otherwise value returns the value of any option.
func Check(usual, options []kgo.Opt, refused []Refusal) (value func(option any) any, err error) {
	base, err := kgo.NewClient(usual...)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	asked, err := kgo.NewClient(append(usual[:len(usual):len(usual)], options...)...)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	var errs []error
	for _, r := range refused {
		if !same(base.OptValues(r.Option), asked.OptValues(r.Option)) {
			errs = append(errs, fmt.Errorf("%s cannot be set: %s", nameOf(r.Option), r.Why))
		}
	}
	return asked.OptValue, errors.Join(errs...)
}

// nameOf returns the name of an option.
func nameOf(option any) string {
	name := runtime.FuncForPC(reflect.ValueOf(option).Pointer()).Name()
	return name[strings.LastIndex(name, "/")+1:]
}

// same reports whether an option has the same values in two clients.
func same(a, b []any) bool {
	for i := range a {
		x, y := reflect.ValueOf(a[i]), reflect.ValueOf(b[i])
		if x.Kind() == reflect.Func && y.Kind() == reflect.Func {
			if x.Pointer() != y.Pointer() {
				return false
			}
		} else if !reflect.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}
