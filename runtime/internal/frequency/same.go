package frequency

import "strings"

// SameButNumbers reports whether two texts differ in their numbers only, so that, for example, a
// growing log does not count as a change.
func SameButNumbers(a, b string) bool { return withoutDigits(a) == withoutDigits(b) }

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}
