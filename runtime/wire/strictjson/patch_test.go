package strictjson

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// TestAPatchIsAbsentNullOrAValue: the marker of absent values is one in a patch alone.
func TestAPatchIsAbsentNullOrAValue(t *testing.T) {
	state := func(p wire.Patch[string]) string { return []string{"absent", "null", "value " + p.Value}[p.State] }
	optional := func(s *Scanner) string { return state(OptPatch(s, s.String)) }
	required := func(s *Scanner) string { return state(Patch(s, s.String)) }
	plain := func(s *Scanner) string { return s.String() }
	raw := func(s *Scanner) string { return string(s.JSON()) }
	list := func(s *Scanner) string {
		var p wire.Patch[[]string]
		if OptPatches(s, &p.State) {
			for s.Array(); s.Element(); {
				p.Value = append(p.Value, s.String())
			}
		}
		return []string{"absent", "null", "value " + strings.Join(p.Value, ",")}[p.State]
	}
	for _, c := range []struct {
		read             func(*Scanner) string
		text, want, fail string
	}{
		{optional, `"a"`, "value a", ""},
		{optional, ` null`, "null", ""},
		{optional, `"__none"`, "absent", ""},
		{optional, `"\u005f_none"`, "absent", ""},
		{optional, `"__non"`, "value __non", ""},
		{optional, `"__none`, "", "ends too early"},
		{optional, `7`, "", "must be a string"},
		{required, `"__none"`, "absent", ""},
		{required, `null`, "", "must not be null"},
		{plain, `"__none"`, "", "contains the marker"},
		{plain, `"__\u006eone"`, "", "contains the marker"},
		{raw, `"__none"`, "", "contains the marker"},
		{raw, `"__\u006eone"`, "", "contains the marker"},
		{raw, `["__none"]`, `["__none"]`, ""},
		{list, `"__none"`, "absent", ""},
		{list, `null`, "null", ""},
		{list, `["a","b"]`, "value a,b", ""},
		{list, `["__none"]`, "", "contains the marker"},
		{list, `"x"`, "", "must be an array"},
	} {
		for _, owned := range []bool{false, true} {
			m := wire.Message{Value: []byte(`{"a":` + c.text + `}`)}
			s := Scanner{AbsentMarker: "__none"}
			if owned {
				s.Reset(&m)
			} else {
				s.Borrow(&m)
			}
			got := ""
			for s.Object(); s.Member(); {
				got = c.read(&s)
			}
			err := s.Finish("E")
			switch {
			case c.fail == "" && (err != nil || got != c.want):
				t.Errorf("%s is %q (%v), not %q", c.text, got, err, c.want)
			case c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
				t.Errorf("%s is %q (%v), but %s", c.text, got, err, c.fail)
			}
		}
	}
}

// TestTheMarkerOfAPayloadIsAKeyLikeAnyOther: it says nothing about the record key.
func TestTheMarkerOfAPayloadIsAKeyLikeAnyOther(t *testing.T) {
	m := wire.Message{Value: []byte(`{}`), Key: []byte(`{"id":"__none"}`)}
	s := Scanner{AbsentMarker: "__none"}
	s.Borrow(&m)
	for s.Object(); s.Member(); {
	}
	s.NextKey(&m)
	id := ""
	for s.Object(); s.Member(); {
		id = s.String()
	}
	if err := s.Finish("E"); err != nil || id != "__none" {
		t.Errorf("%q, %v", id, err)
	}
}
