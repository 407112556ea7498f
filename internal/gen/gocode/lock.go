package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// newLock is the lock of an event, by the texts of its fields.
func newLock(l *model.Lock) code {
	values := []code{lit(l.Name)}
	for _, f := range l.By {
		switch value := "e." + f.GoName; f.Type.Kind {
		case model.Enum:
			values = append(values, call("string", text(value)))
		case model.UUID:
			values = append(values, call(value+".String"))
		case model.Int32:
			values = append(values, qual("strconv", "FormatInt").Call(call("int64", text(value)), lit(10)))
		case model.Int64:
			values = append(values, qual("strconv", "FormatInt").Call(text(value), lit(10)))
		default:
			values = append(values, text(value))
		}
	}
	return wire("NewLock").Call(values...)
}

// lockDoc says under which lock the code of an event runs.
func lockDoc(l *model.Lock) string {
	var by []string
	for _, f := range l.By {
		by = append(by, f.Name)
	}
	return fmt.Sprintf("No other call under lock %q with the same %s runs at the same time.", l.Name, listing(by))
}
