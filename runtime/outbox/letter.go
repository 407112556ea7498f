package outbox

import (
	"errors"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/record"
)

// What the header idem.payload says of a dead letter's record, if the record was kept.
const (
	payloadWhole   = "whole"
	payloadOmitted = "omitted" // only the key is sent
)

// ours begins the names of the headers about a dead letter.
const ours = "idem."

// letter makes r the record of a dead letter. Its value is the record as it was stored, and about
// has names and values of the headers about it, idem.payload last. The record's own headers with
// our names are about an earlier dead letter, and are not sent.
func letter(r *Record, about []string) error {
	stored := r.Value
	*r = Record{Topic: r.Topic}
	if n := len(about); n == 0 || n%2 != 0 {
		return errors.New("idem_outbox.idem_letter is not a list of names and values")
	}
	var at time.Time
	if payload := about[len(about)-1]; payload == payloadWhole || payload == payloadOmitted {
		m, err := record.Parse(stored)
		if err != nil {
			return err
		}
		r.Key, at = m.Key, m.Time
		if payload != payloadOmitted {
			r.Value = m.Value
			for _, h := range m.Headers {
				if !strings.HasPrefix(h.Name, ours) {
					r.Headers = append(r.Headers, Header{h.Name, h.Value})
				}
			}
		}
	}
	for i := 0; i < len(about); i += 2 {
		if about[i+1] != "" {
			r.Headers = append(r.Headers, Header{about[i], []byte(about[i+1])})
		}
	}
	if !at.IsZero() {
		r.Headers = append(r.Headers, Header{ours + "timestamp", []byte(at.UTC().Format(time.RFC3339Nano))})
	}
	return nil
}
