package session

import (
	"maps"
	"strings"
)

// parameters returns the settings in startup parameters: those under their own names, and those in
// options, as "-c name=value" or "--name=value", where a backslash escapes the next character.
func parameters(startup map[string]string) map[string]string {
	all := maps.Clone(startup)
	delete(all, "options")
	delete(all, "replication")
	words := splitOptions(startup["options"])
	for i := 0; i < len(words); i++ {
		setting, long := strings.CutPrefix(words[i], "--")
		if !long {
			var ok bool
			if setting, ok = strings.CutPrefix(words[i], "-c"); !ok {
				continue
			}
			if setting == "" && i+1 < len(words) {
				i++
				setting = words[i]
			}
		}
		if name, value, ok := strings.Cut(setting, "="); ok {
			all[strings.ReplaceAll(name, "-", "_")] = value
		}
	}
	return all
}

// splitOptions splits as the server does: at white space that is not preceded by a backslash.
func splitOptions(text string) []string {
	var words []string
	var word strings.Builder
	inWord, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\':
			inWord, escaped = true, true
		case strings.ContainsRune(" \t\n\r\f\v", c):
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			inWord = true
			word.WriteRune(c)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
