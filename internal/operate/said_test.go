package operate_test

import (
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
)

// The cause of dead letters is that of the largest group, with how many of all it has, and the
// version that rejected the first of them.
func TestCauseOfDeadLetters(t *testing.T) {
	cause := operate.Cause{Class: "decode", Event: "Paid", Reason: "a must be an integer"}
	const text = "decode: Paid: a must be an integer"
	for want, c := range map[string]struct {
		group operate.Group
		all   int
	}{
		"records were passed without effect: " + text:                               {operate.Group{Cause: cause, Count: 3}, 3},
		"records were passed without effect: 3 of them, " + text:                    {operate.Group{Cause: cause, Count: 4, Asked: 1}, 4},
		"records were passed without effect: " + text + ", first with version v1.2": {operate.Group{Cause: cause, Count: 4, Asked: 1, Version: "v1.2"}, 3},
		"records were passed without effect: decode":                                {operate.Group{Cause: operate.Cause{Class: "decode"}, Count: 1}, 1},
	} {
		if got := c.group.Said(c.all); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}
