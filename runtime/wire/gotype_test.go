package wire

import (
	"errors"
	"strings"
	"testing"
)

// shout is a Go type of a service.
type shout struct{ text string }

func (s *shout) UnmarshalText(text []byte) error {
	switch {
	case string(text) == "13":
		return errors.New("the secret is 13")
	case string(text) == "14":
		panic("the secret is 14")
	}
	s.text = string(text) + "!"
	return nil
}

func read1(r *Reader, path string, v Decimal) shout { return Parse[shout](r, path, v) }

func decimals(texts ...string) (out []Decimal) {
	for _, t := range texts {
		out = append(out, MustDecimal(t))
	}
	return out
}

// A value that a Go type refuses, or panics over, is an error of the record that names the
// field's place and the type, and neither the value nor what the type says of it.
func TestWhatAGoTypeRefusesIsAnErrorAtItsPlace(t *testing.T) {
	for want, read := range map[string]func(r *Reader){
		"total":  func(r *Reader) { read1(r, "total", MustDecimal("13")) },
		"panics": func(r *Reader) { read1(r, "panics", MustDecimal("14")) },
		"tip":    func(r *Reader) { Some(new(MustDecimal("13")), func(v Decimal) shout { return read1(r, "tip", v) }) },
		"rates": func(r *Reader) {
			Values(r, "rates", map[string]Decimal{"alice": MustDecimal("13")}, func(v Decimal) shout { return read1(r, "", v) })
		},
		"prices[1]": func(r *Reader) {
			Each(r, "prices", decimals("1", "13", "14"), func(v Decimal) shout { return read1(r, "", v) })
		},
		"address.lat": func(r *Reader) {
			Member(r, "address", MustDecimal("13"), func(v Decimal) shout { return read1(r, "lat", v) })
		},
		"items[0].price": func(r *Reader) {
			Each(r, "items", decimals("13"), func(v Decimal) shout { return read1(r, "price", v) })
		},
		"a.items[2].prices[0]": func(r *Reader) {
			Member(r, "a", 0, func(int) []int {
				return Each(r, "items", decimals("1", "2", "13"), func(v Decimal) int {
					Each(r, "prices", []Decimal{v}, func(v Decimal) shout { return read1(r, "", v) })
					return 0
				})
			})
		},
	} {
		r := &Reader{}
		read(r)
		failed := r.Failure()
		if failed == nil || failed.Path != want || failed.Reason != "is refused by the Go type wire.shout" {
			t.Errorf("%s: got %+v", want, failed)
		}
	}
}

// After an error nothing is asked of a Go type, and the error stays what it is.
func TestAGoTypeIsNotAskedAfterAnError(t *testing.T) {
	r := &Reader{}
	r.Fail("first", 7, "is wrong")
	Member(r, "a", 0, func(int) int {
		Each(r, "b", decimals("13"), func(v Decimal) shout { return read1(r, "", v) })
		Values(r, "c", map[string]Decimal{"x": MustDecimal("14")}, func(v Decimal) shout { return read1(r, "", v) })
		return 0
	})
	read1(r, "d", MustDecimal("14"))
	if got := r.Failure(); *got != (DecodeError{Path: "first", At: 7, Reason: "is wrong"}) {
		t.Errorf("got %+v", got)
	}
}

// Nil, NULL and absent stay what they are.
func TestNothingBecomesAValueOfAGoType(t *testing.T) {
	r := &Reader{}
	to := func(v Decimal) shout { return read1(r, "x", v) }
	if Some(nil, to) != nil || Each(r, "x", nil, to) != nil || Values(r, "x", nil, to) != nil {
		t.Error("nil became a value")
	}
	if p := PatchOf(Patch[Decimal]{State: PatchNull}, to); p.State != PatchNull || p.Value.text != "" {
		t.Errorf("a null patch became %+v", p)
	}
	if p := PatchOf(Patch[Decimal]{State: PatchValue, Value: MustDecimal("1.50")}, to); p.State != PatchValue || p.Value.text != "1.50!" {
		t.Errorf("a patch became %+v", p)
	}
	all := Each(r, "x", decimals("1", "2"), to)
	if len(all) != 2 || all[0].text+all[1].text != strings.Join([]string{"1!", "2!"}, "") {
		t.Errorf("a list became %+v", all)
	}
}
