package idemtest

import "strings"

// gooseUp returns what goose sends for a file upwards; ok is false if the file is not for goose.
// Lines that are not sent become empty, so that the server's positions are those of the file.
func gooseUp(text string) (messages []string, ok bool) {
	var sent strings.Builder // the statements of one message
	alone, up, whole := false, false, false
	flush := func() {
		if strings.TrimSpace(sent.String()) != "" {
			messages = append(messages, sent.String())
			lines := strings.Count(sent.String(), "\n")
			sent.Reset()
			sent.WriteString(strings.Repeat("\n", lines))
		}
	}
	for line := range strings.Lines(text) {
		mark := annotation(line)
		if up && mark == "" {
			sent.WriteString(line)
		} else {
			sent.WriteString("\n")
		}
		switch mark {
		case "UP":
			up, ok = true, true
		case "DOWN":
			up = false
		case "NO TRANSACTION":
			alone = true
		case "STATEMENTBEGIN":
			whole = true
		case "STATEMENTEND":
			whole = false
		}
		if alone && up && (mark == "STATEMENTEND" || !whole && endsStatement(line)) {
			flush()
		}
	}
	flush()
	if !alone && len(messages) > 0 {
		messages[0] = "BEGIN;" + messages[0] + ";COMMIT;"
	}
	return messages, ok
}

// annotation is what a line tells goose, in capitals; "" if it is SQL or a comment.
func annotation(line string) string {
	rest, comment := strings.CutPrefix(line, "--")
	told, ok := strings.CutPrefix(strings.TrimSpace(rest), "+goose ")
	if !comment || !ok {
		return ""
	}
	return strings.ToUpper(strings.TrimSpace(told))
}

// endsStatement reports whether the last word of a line, comments left out, ends with a
// semicolon.
func endsStatement(line string) bool {
	last := ""
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "--") {
			break
		}
		last = word
	}
	return strings.HasSuffix(last, ";")
}
