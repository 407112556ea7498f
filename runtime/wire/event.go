package wire

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Event says how records are decoded into events of one kind, and which of them are duplicates. E
// is the generated struct, and D the decoder of the topic's format. It is read-only.
type Event[E any, D Decoder] struct {
	Name      string // Go name
	OnFailure *FailurePolicy
	// Decode decodes a record into an event. It may reuse the memory of the event's old content.
	Decode func(e *E, d D, m *Message)
	// Owned says that the event outlives the batch, because a handler receives it.
	Owned bool
	// Fits checks that values fit their columns; nil if there is nothing to check.
	Fits func(e *E, f *Fit)
	// Key adds the parts of the key; nil if the event is identified by its offset. The fields
	// below are then empty.
	Key func(e *E, k *KeyBuilder, m *Message)
	// Space is a prefix that is hashed into all keys of the event.
	Space string
	// Here says that all duplicates arrive through one partition, whose chain holds the key.
	Here bool
	// Print adds the values on which duplicates must agree; Content is the hash of their
	// definition.
	Print   func(e *E, f *Fingerprint)
	Content uint32
}

// KeySpace returns the 16 bytes that the text stands for, which is in idem.state.yaml as well: a
// hash of the consumer, the topic, the event and the names of the key's parts, in hex. It panics
// for any other text.
func KeySpace(text string) string {
	space, err := hex.DecodeString(text)
	if err != nil || len(space) != 16 {
		panic("wire: " + strconv.Quote(text) + " is not the hex of 16 bytes")
	}
	return string(space)
}

// Take decodes m into e and claims its key. It returns true if the event is new: the caller then
// adds its rows. It returns false and a nil error for a duplicate. Everything that can reject the
// event is checked before the key is claimed.
func (ev *Event[E, D]) Take(b *Batch, m *Message, d D, e *E) (fresh bool, err error) {
	b.record.event = ev.Name
	if ev.OnFailure != nil {
		b.record.policy = ev.OnFailure
	}
	if ev.Owned {
		d.Reset(m)
	} else {
		d.Borrow(m)
	}
	ev.Decode(e, d, m)
	if err := d.Finish(ev.Name); err != nil {
		return false, err
	}
	if ev.Key == nil {
		err := ev.fit(b, e)
		return err == nil, err
	}
	k := &b.builder
	k.Start(ev.Space)
	ev.Key(e, k, m)
	key, err := k.Sum(ev.Name)
	if err != nil {
		return false, err
	}
	if err := ev.fit(b, e); err != nil {
		return false, err
	}
	b.print.Start()
	ev.Print(e, &b.print)
	return b.Claim(ev.Name, key, ev.Content, b.print.Sum(), ev.Here)
}

func (ev *Event[E, D]) fit(b *Batch, e *E) error {
	if ev.Fits == nil {
		return nil
	}
	b.fit = Fit{}
	ev.Fits(e, &b.fit)
	return b.fit.Err(ev.Name)
}

// Fit checks whether values fit their columns, so that an event with a value that does not fit
// becomes a dead letter before it is part of a batch. A nil value is NULL, which fits. Fit keeps
// the first error. The zero value is ready for use.
type Fit struct {
	list  string // the list whose element is checked, "" outside
	index int
	err   *DecodeError
}

// In starts element i of a list, counted from 0.
func (f *Fit) In(list string, i int) { f.list, f.index = list, i }

// Out ends the elements of a list.
func (f *Fit) Out() { f.list = "" }

// Varchar checks that v has at most n characters.
func (f *Fit) Varchar(name string, v *string, n int) {
	if v != nil && len(*v) > n && utf8.RuneCountInString(*v) > n { // bytes are at least characters
		f.fail(name, "is longer than "+characters(n))
	}
}

// Char checks that v has exactly n characters: Postgres would pad a shorter value.
func (f *Fit) Char(name string, v *string, n int) {
	if v != nil && utf8.RuneCountInString(*v) != n {
		f.fail(name, "must have exactly "+characters(n))
	}
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return strconv.Itoa(n) + " characters"
}

// Numeric checks that v has at most scale digits after the decimal point and precision-scale
// before it. Leading and trailing zeros are ignored.
func (f *Fit) Numeric(name string, v *Decimal, precision, scale int) {
	if v == nil {
		return
	}
	whole, fraction, _ := strings.Cut(v.String(), ".")
	whole = strings.TrimLeft(whole, "-0")
	fraction = strings.TrimRight(fraction, "0")
	before := len(whole)
	if before == 0 && fraction != "" { // 0.001 has -2 digits before the point
		before = len(strings.TrimLeft(fraction, "0")) - len(fraction)
	}
	if len(fraction) > scale || before > precision-scale {
		f.fail(name, "does not fit numeric("+strconv.Itoa(precision)+","+strconv.Itoa(scale)+")")
	}
}

// Smallint checks that v is within the range of a smallint.
func (f *Fit) Smallint(name string, v *int32) {
	if v != nil && *v != int32(int16(*v)) {
		f.fail(name, "is out of the range of smallint")
	}
}

// Real checks that v is the value of the shortest decimal that Postgres writes for its real, so
// 0.1 and 16777216 fit, and 16777217 does not.
func (f *Fit) Real(name string, v *float64) {
	if v == nil {
		return
	}
	var text [32]byte
	short, err := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], *v, 'g', -1, 32)), 64)
	if err != nil || short != *v {
		f.fail(name, "has more digits than real holds")
	}
}

// FitEach checks each element of a list by a method of [Fit].
func FitEach[T any](f *Fit, check func(name string, v *T), name string, values []T) {
	for i := range values {
		if f.err != nil {
			return
		}
		if check(name, &values[i]); f.err != nil {
			f.err.Path += "[" + strconv.Itoa(i) + "]"
		}
	}
}

func (f *Fit) fail(name, reason string) {
	if f.err != nil {
		return
	}
	if f.list != "" {
		element := f.list + "[" + strconv.Itoa(f.index) + "]"
		if name != "" {
			element += "."
		}
		name = element + name
	}
	f.err = &DecodeError{Class: ReasonFit, Path: name, Reason: reason}
}

// Err returns the first error as a [*DecodeError] of event.
func (f *Fit) Err(event string) error {
	if f.err == nil {
		return nil // not a nil pointer in an interface
	}
	f.err.Event = event
	return f.err
}
