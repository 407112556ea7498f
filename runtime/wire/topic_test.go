package wire_test

import (
	"regexp"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// A pattern stands for the same names by itself and as the regular expression that clients get.
func TestTopicsOfAPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		is            bool
	}{
		{"orders.<region>.v1", "orders.eu.v1", true},
		{"orders.<region>.v1", "orders.E_u-9.v1", true},
		{"orders.<region>.v1", "orders.__eu.v1", true},
		{"orders.<region>.v1", "orders.eu.v2", false},
		{"orders.<region>.v1", "orders.eu.v11", false},
		{"orders.<region>.v1", "orders.eu.west.v1", false},
		{"orders.<region>.v1", "orders..v1", false},
		{"orders.<region>.v1", "orders.eu", false},
		{"orders.<region>.v1", "my.orders.eu.v1", false},
		{"orders.<region>.v1", "orders.eu.v1.", false},
		{"orders.<region>.v1", "ordersXeu.v1", false},
		{"orders.<region>.v1", "orders.euXv1", false},
		{"<team>.shifts", "night.shifts", true},
		{"<team>.shifts", "_.shifts", true},
		{"<team>.shifts", "_night.shifts", true},
		{"<team>.shifts", "__.shifts", false},
		{"<team>.shifts", "__night.shifts", false},
		{"<team>.shifts", ".shifts", false},
		{"a.<x>.<y>.d", "a.b.c.d", true},
		{"a.<x>.<y>.d", "a.b.d", false},
		{"orders.v1", "orders.v1", true},
		{"orders.v1", "ordersXv1", false},
	} {
		s := wire.Service{Topics: []wire.Topic{{Name: "other"}, {Name: c.pattern}}}
		if found := s.Topic(c.name); (found == &s.Topics[1]) != c.is {
			t.Errorf("%s is %s: %v, want %v", c.name, c.pattern, !c.is, c.is)
		}
		if matches := regexp.MustCompile(s.Topics[1].Expression()).MatchString(c.name); matches != c.is {
			t.Errorf("%s matches %s: %v, want %v", c.name, s.Topics[1].Expression(), matches, c.is)
		}
	}
}

func TestSegmentsOfARecordsTopic(t *testing.T) {
	m := &wire.Message{Topic: "a.b..d"}
	for n, want := range []string{"a", "b", "", "d", "", ""} {
		if got := m.Segment(n); got != want {
			t.Errorf("part %d is %q, want %q", n, got, want)
		}
	}
	var r wire.Reader
	if got := r.Segment(m, "x", 1).String(); got != "b" || r.Failure() != nil {
		t.Errorf("%q, %v", got, r.Failure())
	}
	r.Segment(m, "y", 4)
	if err := r.Err("E"); err == nil || err.Error() != "decode: E: segment y is missing" {
		t.Errorf("got %v", err)
	}
}
