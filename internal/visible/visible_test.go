package visible_test

import (
	"testing"

	"github.com/idemgen/idemgen/internal/visible"
)

// What a reader would not see is escaped, and nothing else is changed.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\nof lines": "plain\ttext\nof lines",
		"Zürich, 東京\u3000駅, می\u200cخواهم, 👩\u200d🔬": "Zürich, 東京\u3000駅, می\u200cخواهم, 👩\u200d🔬",
		"a\u00a0b\u202f1":               "a\u00a0b\u202f1",
		"\x1b[2J\r\x00\x7f\u0085":       `\u001b[2J\u000d\u0000\u007f\u0085`,
		"user\u202egpj.exe\u2066\ufeff": `user\u202egpj.exe\u2066\ufeff`,
		"line\u2028end\u2029":           `line\u2028end\u2029`,
		"tag\U000e0041":                 `tag\udb40\udc41`,
		"cut \xff\xe2\x82":              `cut \xff\xe2\x82`,
	} {
		if got := visible.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}
