package verdict

import "strings"

// reasonBytes is the most of a handler's error text that is kept.
const reasonBytes = 2000

// Storable makes the error text of a handler or an effect fit for a column of type text.
func Storable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if len(text) > reasonBytes {
		text = strings.ToValidUTF8(text[:reasonBytes], "") + " ..."
	}
	return text
}
