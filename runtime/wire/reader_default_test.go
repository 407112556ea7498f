package wire

import "testing"

// A default stands for an absent header; a null or a repeated one is refused.
func TestDefaultStandsForAnAbsentHeaderOnly(t *testing.T) {
	for name, test := range map[string]struct {
		headers []Header
		there   bool
		refused bool
	}{
		"absent":   {nil, false, false},
		"there":    {[]Header{{Name: "h", Value: []byte("v")}}, true, false},
		"null":     {[]Header{{Name: "h"}}, false, true},
		"repeated": {[]Header{{Name: "h", Value: []byte("v")}, {Name: "h", Value: []byte("v")}}, false, true},
	} {
		var s Reader
		m := Message{Headers: test.headers}
		s.Own()
		_, there := s.DefaultHeader(&m, "h")
		if err := s.Err("E"); there != test.there || (err != nil) != test.refused {
			t.Errorf("%s: there %v, error %v", name, there, err)
		}
	}
}
