package idemtest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
)

// ReadLog reads the records that idemgen wrote for the tests of a topic, for a program that sends
// them to a service. Their topic, partition and offset are not set, and of what is known of their
// events only the name.
func ReadLog(path string) ([]Event, error) { return readLog(path, nil) }

// readLog reads the records of a test: JSON, one record a line, after a line that names the
// program that wrote it. Events holds by name what all records of an event have in common.
func readLog(path string, events map[string]Event) ([]Event, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var log []Event
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for n := 1; lines.Scan(); n++ {
		if n == 1 { // who made it
			continue
		}
		e, err := readRecord(lines.Bytes(), events)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		log = append(log, e)
	}
	return log, lines.Err()
}

// logRecord is a line of a log. A record has a value, which is JSON as it is, or a text, or
// neither: a tombstone.
type logRecord struct {
	Topic      string    `json:"topic"`     // of a log of several
	Event      string    `json:"event"`     // "" if the consumer has none for the record
	ByOffset   bool      `json:"by_offset"` // it lacks the key that records of its event have
	DeadLetter string    `json:"dead_letter"`
	Key        *string   `json:"key"`
	Headers    headers   `json:"headers"`
	Timestamp  time.Time `json:"timestamp"` // zero: that of its place
	// Of its effect, one at most.
	Result      json.RawMessage `json:"result"`
	Error       string          `json:"error"`
	Interrupted string          `json:"interrupted"`
	Value       json.RawMessage `json:"value"`
	Text        *string         `json:"text"`
}

// logHead is the first line of a log.
type logHead struct {
	SHA256 string `json:"sha256"` // of the case that it was made of
}

func readRecord(line []byte, events map[string]Event) (Event, error) {
	var r logRecord
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return Event{}, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Event{}, errors.New("more than one record on a line")
	}
	e, known := events[r.Event]
	switch {
	case !known && r.Event != "" && events != nil:
		return Event{}, fmt.Errorf("unknown event %q", r.Event)
	case r.Value != nil && r.Text != nil:
		return Event{}, errors.New("a record has a value or a text, not both")
	}
	e.Name, e.DeadLetter = r.Event, r.DeadLetter
	if r.ByOffset {
		e.Keyed, e.Here = false, false
	}
	e.Message.Topic, e.Message.Time = r.Topic, r.Timestamp
	e.Message.Headers = r.Headers
	e.Message.Value, e.Result = r.Value, r.Result
	e.Failure, e.Interrupted = cmp.Or(r.Error, r.Interrupted), r.Interrupted != ""
	if r.Key != nil {
		e.Message.Key = []byte(*r.Key)
	}
	if r.Text != nil {
		e.Message.Value = []byte(*r.Text)
	}
	return e, nil
}

// headers are an object whose members keep their order.
type headers []idem.Header

// UnmarshalJSON reads the object.
func (h *headers) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return errors.Join(errors.New("headers must be an object"), err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		value, err := decoder.Token()
		header := idem.Header{Name: name.(string)} // a member's name is a string
		if text, ok := value.(string); ok {
			header.Value = []byte(text)
		} else if err != nil || value != nil {
			return errors.Join(fmt.Errorf("header %v must be a text or null", name), err)
		}
		*h = append(*h, header)
	}
	return nil
}

// expectedDeadLetters are the records of a log that must become dead letters, by their place in
// it.
func expectedDeadLetters(log []Event) map[int]expectedDead {
	dead := map[int]expectedDead{}
	for i, e := range log {
		if class, path, _ := strings.Cut(e.DeadLetter, " "); class != "" {
			dead[i] = expectedDead{class: class, path: path}
		}
	}
	return dead
}
