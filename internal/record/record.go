// Package record is the form in which a record of Kafka is kept in a dead letter: its bytes as
// they were read, its time and its headers. Where it stood is kept in columns beside it. It
// decides nothing. It must not import any package of this module but wire.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// version is the first byte of a record.
const version = 1

// appended is the second byte's bit for a time that the broker set.
const appended = 1

// noTime stands for a record without a time.
const noTime = -1 << 63

// Append appends a record's form to b: the version, a byte of marks, the time in microseconds
// since 1970, key, value, the number of headers, and name and value of each. Numbers are as
// encoding/binary writes them, lengths one more than the number of bytes, 0 for null.
func Append(b []byte, m *wire.Message) []byte {
	marks, micros := byte(0), int64(noTime)
	if m.Appended {
		marks = appended
	}
	if !m.Time.IsZero() {
		micros = m.Time.UnixMicro()
	}
	b = binary.AppendVarint(append(b, version, marks), micros)
	b = appendBytes(b, m.Key)
	b = appendBytes(b, m.Value)
	b = binary.AppendUvarint(b, uint64(len(m.Headers)))
	for _, h := range m.Headers {
		b = appendBytes(b, []byte(h.Name))
		b = appendBytes(b, h.Value)
	}
	return b
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return binary.AppendUvarint(b, 0)
	}
	return append(binary.AppendUvarint(b, uint64(len(v))+1), v...)
}

// Parse reads what [Append] wrote. Topic, partition, offset and leader epoch are not in it: the
// caller knows them, and LeaderEpoch is -1. The result shares no memory with b. An error says
// at which byte b is no record, and tells nothing of its content.
func Parse(b []byte) (wire.Message, error) {
	m := wire.Message{LeaderEpoch: -1}
	r := reader{rest: b}
	if v := r.byte("version"); r.err == nil && v != version {
		r.err = fmt.Errorf("is in format %d, but this version only reads format %d: use the idemgen version of the service", v, version)
	}
	marks := r.byte("marks")
	if marks&^appended != 0 {
		r.fail("marks")
	}
	m.Appended = marks == appended
	if micros := r.varint("time"); micros != noTime {
		m.Time = time.UnixMicro(micros).UTC()
	}
	m.Key = r.bytes("key")
	m.Value = r.bytes("value")
	m.Headers = r.headers()
	if r.err == nil && len(r.rest) > 0 {
		r.fail("end")
	}
	if r.err != nil {
		return wire.Message{}, fmt.Errorf("the stored record %w", r.position(len(b)))
	}
	return m, nil
}

// reader takes parts from the front of rest, until one is not there.
type reader struct {
	rest []byte
	err  error
}

// errPart says which part is missing or wrong.
type errPart string

func (e errPart) Error() string { return "has no " + string(e) }

// position is the error with the place where reading ended.
func (r *reader) position(size int) error {
	if part, ok := errors.AsType[errPart](r.err); ok {
		return fmt.Errorf("is damaged: it %w at byte %d of %d", part, size-len(r.rest), size)
	}
	return r.err
}

func (r *reader) fail(part string) {
	if r.err == nil {
		r.err = errPart(part)
	}
}

func (r *reader) byte(part string) byte {
	if r.err != nil || len(r.rest) == 0 {
		r.fail(part)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) varint(part string) int64 {
	v, n := binary.Varint(r.rest)
	r.advance(n, part)
	return v
}

func (r *reader) uvarint(part string) uint64 {
	v, n := binary.Uvarint(r.rest)
	r.advance(n, part)
	return v
}

// advance passes n bytes; n is not positive if they are no number.
func (r *reader) advance(n int, part string) {
	if r.err != nil || n <= 0 {
		r.fail(part)
		return
	}
	r.rest = r.rest[n:]
}

// bytes reads a length and that many bytes.
func (r *reader) bytes(part string) []byte {
	n := r.uvarint(part)
	switch {
	case r.err != nil || n == 0:
		return nil
	case n-1 > uint64(len(r.rest)):
		r.fail(part)
		return nil
	}
	v := append(make([]byte, 0, n-1), r.rest[:n-1]...)
	r.rest = r.rest[n-1:]
	return v
}

// headers reads a number of headers and that many of them; each has two bytes at least.
func (r *reader) headers() []wire.Header {
	n := r.uvarint("headers")
	if r.err == nil && n > uint64(len(r.rest))/2 {
		r.fail("headers")
	}
	if r.err != nil || n == 0 {
		return nil
	}
	all := make([]wire.Header, n)
	for i := range all {
		name := r.bytes("name of a header")
		if name == nil {
			r.fail("name of a header")
		}
		all[i] = wire.Header{Name: string(name), Value: r.bytes("value of a header")}
	}
	return all
}
