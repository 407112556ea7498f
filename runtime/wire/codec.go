package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// ErrNotImplemented is what scaffolded code of a service returns.
var ErrNotImplemented = errors.New("not implemented")

// MadeByCodec is the value that Go code of the service makes of raw, what a record holds. codecs
// is what it passed to NewConsumer, by is a method of that, and typ names the type of the spec.
// reason says why there is no value. It holds neither the value nor what the codec says of it,
// which may be secret. If nobody has written the codec, r gets an error that halts the partition.
func MadeByCodec[C, T any](r *Reader, codecs any, typ string, raw []byte, by func(C, []byte) (T, error)) (v T, reason string) {
	c, passed := codecs.(C)
	if !passed {
		r.halts = true
		return v, "is read by the codec of type " + strconv.Quote(typ) + ", but NewConsumer got no Codecs"
	}
	got, err := decoded(c, bytes.Clone(raw), by)
	switch {
	case errors.Is(err, ErrNotImplemented):
		r.halts = true
		return v, "is read by the codec of type " + strconv.Quote(typ) + ", which is not implemented"
	case err != nil:
		return v, "is refused by the codec of type " + strconv.Quote(typ)
	}
	if reason = settle(&got); reason != "" {
		return v, "is decoded to a value that " + reason
	}
	return got, ""
}

// decoded calls the service's code: a panic is an error.
func decoded[C, T any](c C, raw []byte, by func(C, []byte) (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T", p)
		}
	}()
	return by(c, raw)
}

// settle makes a value of the service's code one that a record could hold, or says why it is none.
func settle(v any) (reason string) {
	switch v := v.(type) {
	case *string:
		return notation.TextFlaw([]byte(*v))
	case *[]byte:
		if *v == nil {
			*v = []byte{} // nil is NULL
		}
	case *float64:
		if math.IsNaN(*v) || math.IsInf(*v, 0) {
			return notation.OutOfRange
		}
	case *Decimal:
		_, _, reason = notation.PlainDecimal([]byte(v.String()), nil)
	case *time.Time:
		if y := v.UTC().Year(); y < 0 || y > 9999 {
			return notation.OutOfRange
		}
		*v = time.UnixMicro(v.UnixMicro()).UTC()
	case *LocalTime:
		if int64(*v) < notation.FirstMicro || int64(*v) > notation.LastMicro {
			return notation.OutOfRange
		}
	case *Date:
		if int64(*v) < notation.FirstDay || int64(*v) > notation.LastDay {
			return notation.OutOfRange
		}
	}
	return reason
}

// ReadText reads a text by a method of [Text], as a header is read. It is for codecs of tests,
// whose records hold values as text.
func ReadText[T any](raw []byte, read func(Text) T) (T, error) {
	r := Reader{owned: true}
	v := read(Text{r: &r, raw: raw, from: "the text"})
	return v, r.Err("")
}
