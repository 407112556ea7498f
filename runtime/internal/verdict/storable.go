package verdict

import "strings"

// reasonBytes is how many bytes of a handler's error text are kept.
const reasonBytes = 2000

// Storable converts the error text of a handler or an effect into a valid value of type text.
func Storable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if len(text) > reasonBytes {
		text = strings.ToValidUTF8(text[:reasonBytes], "") + " ..."
	}
	return text
}
