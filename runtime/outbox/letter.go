package outbox

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/record"
)

// place is a row of idem_dead_letter.
type place struct {
	stream    int32
	offs, seq int64
}

// letter is a dead letter that waits to be sent.
type letter struct {
	place
	topic, topicID          string
	partition               int32
	event, reason, sqlstate string
	createdAt               time.Time
	erased                  bool
	stored                  []byte // the record; nil if it is not kept
}

// What the header idem.payload says of a record's value.
const (
	payloadWhole   = "whole"   // it is the value that was read; without one it was a tombstone
	payloadOmitted = "omitted" // it is left out: [WithoutPayload]
	payloadDropped = "dropped" // it was not kept: on_failure.dead_letter_payload: drop
	payloadErased  = "erased"  // it was erased
)

// ours begins the headers of a dead letter that tell of it.
const ours = "idem."

// record is what is sent. Headers of ours that were there before tell of an earlier dead letter,
// and stay behind: two of one name could not be told apart.
func (t *DeadLetterTopic) record(l *letter) (Record, error) {
	r := Record{Topic: t.topic}
	payload, at := payloadDropped, time.Time{}
	switch {
	case l.erased:
		payload = payloadErased
	case l.stored != nil:
		m, err := record.Parse(l.stored)
		if err != nil {
			return Record{}, err
		}
		r.Key, at, payload = m.Key, m.Time, payloadOmitted
		if t.content == WholeRecord {
			r.Value, payload = m.Value, payloadWhole
			for _, h := range m.Headers {
				if !strings.HasPrefix(h.Name, ours) {
					r.Headers = append(r.Headers, Header{h.Name, h.Value})
				}
			}
		}
	}
	r.Headers = append(r.Headers, t.headers(l, payload, at)...)
	return r, nil
}

// headers say what the letter is. One that has nothing to say is left out.
func (t *DeadLetterTopic) headers(l *letter, payload string, at time.Time) (all []Header) {
	class, reason := l.cause()
	for _, h := range [][2]string{
		{"id", t.id(l)}, {"consumer", t.consumer}, {"topic", l.topic}, {"topic_id", l.topicID},
		{"partition", strconv.Itoa(int(l.partition))}, {"offset", strconv.FormatInt(l.offs, 10)}, {"timestamp", instant(at)},
		{"class", class}, {"event", l.event}, {"reason", reason}, {"sqlstate", l.sqlstate},
		{"created_at", instant(l.createdAt)}, {"payload", payload},
	} {
		if h[1] != "" {
			all = append(all, Header{ours + h[0], []byte(h[1])})
		}
	}
	return all
}

// id is the same for each copy of a letter: a UUID of version 8.
func (t *DeadLetterTopic) id(l *letter) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "idemgen dead letter %q %q %s %d %d %d", t.consumer, l.topic, l.topicID, l.partition, l.offs, l.seq))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// cause takes class and event from the front of the reason.
func (l *letter) cause() (class, reason string) {
	class, reason, _ = strings.Cut(l.reason, ": ")
	if l.event != "" {
		reason = strings.TrimPrefix(reason, l.event+": ")
	}
	return class, reason
}

// instant is a time as text; "" if there is none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
