package retention

import (
	"fmt"
	"testing"
)

// The retention of a topic is that of records which only their age ends.
func TestRetentionIsRead(t *testing.T) {
	of := func(policy, ms string) map[string]string {
		return map[string]string{"cleanup.policy": policy, "retention.ms": ms}
	}
	for _, test := range []struct {
		config map[string]string
		want   string
	}{
		{of("delete", "1500"), "1.5s <nil>"},
		{of("compact,delete", "0"), "0s <nil>"},
		{of("compact", "1500"), fmt.Sprint(ForEver, " <nil>")},
		{of("delete", "-1"), fmt.Sprint(ForEver, " <nil>")},
		{of("delete", "9223372036854"), "2562047h47m16.854s <nil>"},
		{of("delete", "9223372036855"), fmt.Sprint(ForEver, " <nil>")},
		{of("delete", "9223372036854775807"), fmt.Sprint(ForEver, " <nil>")},
		{of("delete", "soon"), `0s retention.ms: strconv.ParseInt: parsing "soon": invalid syntax`},
		{of("delete", ""), `0s retention.ms: strconv.ParseInt: parsing "": invalid syntax`},
	} {
		kept, err := Of(test.config)
		if got := fmt.Sprint(kept, " ", err); got != test.want {
			t.Errorf("of %v: %s, want %s", test.config, got, test.want)
		}
	}
}
