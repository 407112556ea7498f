package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fit checks whether values fit their columns, so that an event with a value that does not fit
// becomes a dead letter before it is part of a batch. A nil value is NULL, which fits. Fit keeps
// the first error. The zero value is ready for use.
type Fit struct {
	list  string // the list whose element is checked, "" outside
	index int
	err   *DecodeError
}

// In starts element i of a list, counted from 0.
func (f *Fit) In(list string, i int) { f.list, f.index = list, i }

// Out ends the elements of a list.
func (f *Fit) Out() { f.list = "" }

// Varchar checks that v has at most n characters.
func (f *Fit) Varchar(name string, v *string, n int) {
	if v != nil && len(*v) > n && utf8.RuneCountInString(*v) > n { // bytes are at least characters
		f.fail(name, "is longer than "+characters(n))
	}
}

// Char checks that v has exactly n characters: Postgres would pad a shorter value.
func (f *Fit) Char(name string, v *string, n int) {
	if v != nil && utf8.RuneCountInString(*v) != n {
		f.fail(name, "must have exactly "+characters(n))
	}
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return strconv.Itoa(n) + " characters"
}

// Numeric checks that v has at most scale digits after the decimal point and precision-scale
// before it. Leading and trailing zeros are ignored.
func (f *Fit) Numeric(name string, v *Decimal, precision, scale int) {
	if v == nil {
		return
	}
	whole, fraction, _ := strings.Cut(v.String(), ".")
	whole = strings.TrimLeft(whole, "-0")
	fraction = strings.TrimRight(fraction, "0")
	before := len(whole)
	if before == 0 && fraction != "" { // 0.001 has -2 digits before the point
		before = len(strings.TrimLeft(fraction, "0")) - len(fraction)
	}
	if len(fraction) > scale || before > precision-scale {
		f.fail(name, "does not fit numeric("+strconv.Itoa(precision)+","+strconv.Itoa(scale)+")")
	}
}

// Smallint checks that v is within the range of a smallint.
func (f *Fit) Smallint(name string, v *int32) {
	if v != nil && *v != int32(int16(*v)) {
		f.fail(name, "is out of the range of smallint")
	}
}

// Real checks that v is the value of the shortest decimal that Postgres writes for its real, so
// 0.1 and 16777216 fit, and 16777217 does not.
func (f *Fit) Real(name string, v *float64) {
	if v == nil {
		return
	}
	var text [32]byte
	short, err := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], *v, 'g', -1, 32)), 64)
	if err != nil || short != *v {
		f.fail(name, "has more digits than real holds")
	}
}

// FitEach checks each element of a list by a method of [Fit].
func FitEach[T any](f *Fit, check func(name string, v *T), name string, values []T) {
	for i := range values {
		if f.err != nil {
			return
		}
		if check(name, &values[i]); f.err != nil {
			f.err.Path += "[" + strconv.Itoa(i) + "]"
		}
	}
}

func (f *Fit) fail(name, reason string) {
	if f.err != nil {
		return
	}
	if f.list != "" {
		element := f.list + "[" + strconv.Itoa(f.index) + "]"
		if name != "" {
			element += "."
		}
		name = element + name
	}
	f.err = &DecodeError{Class: ReasonFit, Path: name, Reason: reason}
}

// Err returns the first error as a [*DecodeError] of event.
func (f *Fit) Err(event string) error {
	if f.err == nil {
		return nil // not a nil pointer in an interface
	}
	f.err.Event = event
	return f.err
}
