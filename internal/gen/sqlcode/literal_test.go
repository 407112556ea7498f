package sqlcode

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Postgres has no year 0000: a constant of it is written as the year 1 BC. A text stays as it is.
func TestConstantsOfTheYearZero(t *testing.T) {
	for _, c := range []struct {
		kind       model.ColKind
		text, want string
	}{
		{model.ColDate, "0000-02-29", "'0001-02-29 BC'"}, {model.ColDate, "0001-02-28", "'0001-02-28'"},
		{model.ColTimestamp, "0000-01-01T00:00:00.5", "'0001-01-01T00:00:00.5 BC'"}, {model.ColTimestamptz, "0000-01-01T00:00:00Z", "'0001-01-01T00:00:00Z BC'"},
		{model.ColText, "0000-02-29", "'0000-02-29'"}, {model.ColBytea, "0000", `E'\\xd34d34'`},
	} {
		if got, err := literal(model.ColType{Kind: c.kind}, &model.Constant{Text: c.text}); err != nil || got != c.want {
			t.Errorf("%v %s: %s, %v, want %s", c.kind, c.text, got, err, c.want)
		}
	}
}
