package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Gzip unpacks values that are compressed by gzip (RFC 1952), one member each. Its zero value is
// ready for use. It is not safe for concurrent use.
type Gzip struct {
	MaxPayload int // bytes of an unpacked value; 0 means 1 MiB

	packed bytes.Reader
	member gzip.Reader
	value  []byte
}

const (
	usualPayload = 1 << 20
	// bytes of memory: at first, and at most between two records
	firstGzipBytes, keptGzipBytes = 4 << 10, 1 << 20
)

// Open returns m with the value that is in its own, valid until the next Open. A record without a
// value is returned as it is. What is no gzip, damaged or cut off is a [*DecodeError], and so is
// anything behind the member. Nothing is unpacked beyond MaxPayload.
func (g *Gzip) Open(m *Message) (*Message, error) {
	if m.Value == nil {
		return m, nil
	}
	if len(m.Value) == 0 {
		return nil, refusedValue("is empty")
	}
	g.packed.Reset(m.Value)
	if err := g.member.Reset(&g.packed); err != nil {
		return nil, refusedValue(gzipFlaw(err))
	}
	g.member.Multistream(false)
	most := g.MaxPayload
	if most == 0 {
		most = usualPayload
	}
	if err := g.read(most + 1); err != nil {
		return nil, refusedValue(gzipFlaw(err))
	}
	switch {
	case len(g.value) > most:
		return nil, &DecodeError{Class: ReasonTooLarge, Reason: fmt.Sprintf("unpacked, the payload has more bytes than limits.max_payload, which is %d", most)}
	case g.packed.Len() > 0:
		return nil, refusedValue("has data behind its gzip member: there must be one member, and nothing else")
	}
	return m.Unpacked(g.value), nil
}

// read reads the member into value, until its end or so many bytes.
func (g *Gzip) read(most int) error {
	if g.value == nil || cap(g.value) > keptGzipBytes {
		g.value = make([]byte, 0, firstGzipBytes)
	}
	g.value = g.value[:0]
	for len(g.value) < most {
		g.value = slices.Grow(g.value, 1)
		n, err := g.member.Read(g.value[len(g.value):min(cap(g.value), most)])
		g.value = g.value[:len(g.value)+n]
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func refusedValue(reason string) error { return &DecodeError{Path: "the payload", Reason: reason} }

// gzipFlaw says what an error of compress/gzip means.
func gzipFlaw(err error) string {
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return "does not begin as gzip does"
	case errors.Is(err, gzip.ErrChecksum):
		return "is damaged: it does not have the checksum that gzip noted"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "is gzip that ends too early"
	}
	return "is gzip that is damaged"
}
