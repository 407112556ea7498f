package command

import (
	"io"

	"github.com/idemgen/idemgen/internal/visible"
)

// printable writes to a terminal. What others wrote, such as a record, a broker or a registry, may
// hold characters on which a terminal acts, or which turn a line around: they are escaped.
type printable struct{ to io.Writer }

// Write writes whole texts: a character is never split over two calls.
func (p printable) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.to, visible.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Raw is the writer below one of a command, for bytes that are not to be escaped.
func Raw(out io.Writer) io.Writer {
	if escaped, is := out.(printable); is {
		return escaped.to
	}
	return out
}
